// `npm run test:hostile`: what svc promises, attacked: a table of the promises, with what was measured, in `docs/promises.md`.
//   npm run test:hostile -- [--only NAME,NAME] [--kills N] [--count N]
// In full it takes hours, most of them the requests for each operation; a file of attacks runs by itself, too.

import { join } from "node:path";
import { audioKills } from "./audio-kills.ts";
import { audioTurns } from "./audio-turns.ts";
import { besideLlamaServer } from "./beside.ts";
import { bodies } from "./bodies.ts";
import { connections } from "./connections.ts";
import { corruptFiles } from "./corrupt-files.ts";
import { described } from "./described.ts";
import { disk } from "./disk.ts";
import { faults } from "./faults.ts";
import { kills } from "./kills.ts";
import { runAll } from "./row.ts";
import { secrets } from "./secrets.ts";
import { sounds } from "./sounds.ts";
import { stopped } from "./stopped.ts";

await runAll(
  {
    beside: () => besideLlamaServer(),
    faults,
    stopped,
    connections,
    bodies: () => bodies(),
    disk,
    secrets,
    "corrupt-files": () => corruptFiles({ count: 100, seed: 1 }),
    kills: ({ kills: count = "1000" }) => kills({ kills: Number(count) }),
    sounds: () => sounds({ count: 500, seed: 1 }),
    "audio-turns": audioTurns,
    "audio-kills": () => audioKills({ kills: 20, seed: 1 }),
    described: (options) => described({ count: "10000", ...options }),
  },
  join(import.meta.dir, "../../docs/promises.md"),
);
