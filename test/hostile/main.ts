// `npm run test:hostile`: attacks on svc's promises; writes the promises with the measured figures to
// `docs/promises.md`.
//   npm run test:hostile -- [--only NAME,NAME] [--kills N] [--count N]     (for each attack with that option)
// A full run takes hours, mostly for the requests for each operation; each file of attacks can also run by itself.

import { join } from "node:path";
import { besideLlamaServer } from "./beside.ts";
import { bodies } from "./bodies.ts";
import { connections } from "./connections.ts";
import { corruptFiles } from "./corrupt-files.ts";
import { described } from "./described.ts";
import { disk } from "./disk.ts";
import { documents } from "./documents.ts";
import { engineKills } from "./engine-kills.ts";
import { engineTurns } from "./engine-turns.ts";
import { faults } from "./faults.ts";
import { images } from "./images.ts";
import { kills } from "./kills.ts";
import { multiplied } from "./multiplied.ts";
import { runAll } from "./row.ts";
import { secrets } from "./secrets.ts";
import { sounds } from "./sounds.ts";
import { stopped } from "./stopped.ts";
import { upstreams } from "./upstreams.ts";

await runAll(
  {
    beside: { title: "Compared with llama-server", run: () => besideLlamaServer() },
    faults: { title: "Faults of the machine", run: faults },
    stopped: { title: "Engines that stop responding", run: stopped },
    connections: { title: "Idle and slow connections", run: connections },
    bodies: { title: "Expensive request bodies, ten at once", run: () => bodies() },
    multiplied: { title: "Amplification", run: () => multiplied() },
    upstreams: { title: "Hostile upstreams", run: upstreams },
    disk: { title: "Full and read-only disks", run: disk },
    secrets: { title: "Privacy", run: secrets },
    "corrupt-files": {
      title: "Damaged model files",
      run: ({ count = "100" }) => corruptFiles({ count: Number(count), seed: 1 }),
    },
    kills: { title: "Killed engines", run: ({ kills: count = "1000" }) => kills({ kills: Number(count) }) },
    sounds: {
      title: "Damaged sound files",
      run: ({ count = "500" }) => sounds({ count: Number(count), seed: 1 }),
    },
    images: {
      title: "Damaged images and hostile image requests",
      run: ({ count = "300" }) => images({ count: Number(count), seed: 1 }),
    },
    documents: {
      title: "Damaged documents",
      run: ({ count = "200" }) => documents({ count: Number(count), seed: 1 }),
    },
    "engine-turns": { title: "Cancelling and fair queueing", run: engineTurns },
    "engine-kills": {
      title: "Killed engines for transcription, speech, images and pages",
      run: ({ kills: count = "40" }) => engineKills({ kills: Number(count), seed: 1 }),
    },
    described: {
      title: "Requests generated from the API description",
      run: (options) => described({ count: "10000", ...options }),
    },
  },
  join(import.meta.dir, "../../docs/promises.md"),
);
