// `npm run test:hostile`: attacks on svc's promises.
//   npm run test:hostile -- [--only FILE,FILE] [--attack TEXT] [--count N] [--kills N] [--seed N] [--workers N] [--write]
// `--write` puts the measured figures into RESULTS.md here and sums them up in docs/promises.md. A full run takes hours,
// about one of them for the requests for each operation. `beside` needs llama-server for its comparison (`bun build.ts bench`),
// `described` Python 3 with venv, and `disk` permission to mount a tmpfs.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { exitOnSignals } from "../support/kill-at-exit.ts";
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
import { promisesPage, resultsOf, resultsPage, resultsText } from "./promises-page.ts";
import type { Options, Row } from "./row.ts";
import { secrets } from "./secrets.ts";
import { sounds } from "./sounds.ts";
import { stopped } from "./stopped.ts";
import { upstreams } from "./upstreams.ts";

interface AttackFile {
  /** The title of its results on the page. */
  readonly title: string;
  readonly run: (options: Options) => Promise<readonly Row[]>;
}

const FILES: Readonly<Record<string, AttackFile>> = {
  beside: { title: "Compared with llama-server", run: besideLlamaServer },
  faults: { title: "Faults of the machine", run: faults },
  stopped: { title: "Engines that stop responding", run: stopped },
  connections: { title: "Idle and slow connections", run: connections },
  bodies: { title: "Expensive request bodies, ten at once", run: bodies },
  multiplied: { title: "Amplification", run: multiplied },
  upstreams: { title: "Hostile upstreams", run: upstreams },
  disk: { title: "Full and read-only disks", run: disk },
  secrets: { title: "Privacy", run: secrets },
  "corrupt-files": { title: "Damaged model files", run: corruptFiles },
  kills: { title: "Killed engines", run: kills },
  sounds: { title: "Damaged sound files", run: sounds },
  images: { title: "Damaged images and hostile image requests", run: images },
  documents: { title: "Damaged documents", run: documents },
  "engine-turns": { title: "Cancelling and fair queueing", run: engineTurns },
  "engine-kills": { title: "Killed engines for transcription, speech, images and pages", run: engineKills },
  described: { title: "Requests generated from the API description", run: described },
};
const TITLES = Object.fromEntries(Object.entries(FILES).map(([name, { title }]) => [name, title]));
const RESULTS = join(import.meta.dir, "RESULTS.md");
const PROMISES = join(import.meta.dir, "../../docs/promises.md");

exitOnSignals();
const text = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    only: text,
    attack: text,
    count: text,
    kills: text,
    seed: text,
    workers: text,
    write: { type: "boolean" },
  },
});
const { only = Object.keys(FILES).join(","), write, attack = "", ...numbers } = values;
const options: Options = {
  attack,
  ...Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, Number(number)])),
};
let held = true;
for (const name of only.split(",")) {
  const file = FILES[name];
  if (!file) throw new Error(`there are no attacks named ${name}; only ${Object.keys(FILES).join(", ")}`);
  const rows = await file.run(options);
  held &&= rows.every(({ ok }) => ok);
  console.log(resultsText(rows));
  if (!write) continue;
  const page = readFileSync(RESULTS, "utf8");
  const written = resultsPage(page, TITLES, resultsOf(page).set(name, rows));
  writeFileSync(RESULTS, written);
  writeFileSync(PROMISES, promisesPage(readFileSync(PROMISES, "utf8"), resultsOf(written)));
  Bun.spawnSync([process.execPath, "fmt", RESULTS, PROMISES]);
}
process.exit(held ? 0 : 1);
