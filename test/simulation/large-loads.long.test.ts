// Larger loads than in simulation.test.ts, because the checks of each step take time.

import { setDefaultTimeout } from "bun:test";
import { everyoneFinishes } from "./everyone-finishes.ts";
import { agents, backgroundFlood, chat, disconnects, flood } from "./traces.ts";

setDefaultTimeout(120_000);

everyoneFinishes([chat(12, 150), agents(4, 500, 1), flood(12, 10), backgroundFlood(4, 6), disconnects(20)]);
