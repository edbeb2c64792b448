// Compares images with those of the same library through its public functions alone: `bun test/bench/image.ts`.
// Pixels must be equal for each seed and sampler. It also compares step times, measures what a single load saves, and
// tries all samplers and schedulers.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openImageLibrary } from "../../ffi/image/binding.ts";
import { developmentLibraries, nativeFiles } from "../../ffi/runtime/native-files.ts";
import { buildImageDriver } from "../../vendor/image-driver.ts";
import { draw, load, options, OWNER, type ImageRig } from "../native/image-harness.ts";
import { median } from "./stats.ts";

const SEEDS = 10;
const SAMPLERS = ["euler", "dpm++2m"] as const;
const STEPS = 4;
const TIMED_STEPS = 30;
const ROUNDS = 3;
const THREADS = 1;
const PROMPT = "two blue stars on a yellow background";

const folder = mkdtempSync(join(tmpdir(), "svc-image-bench-"));
const { model, textEncoder, taesd } = nativeFiles("").embeddedImages;
const library = openImageLibrary(developmentLibraries());
const rig: ImageRig = { library, folder };

interface Wanted {
  readonly seed: number;
  readonly sampler: string;
  readonly steps: number;
}

/** Draws with the driver; returns pixels and milliseconds per step for each image. */
function byDriver(program: string, wanted: readonly Wanted[]) {
  const path = (at: number) => join(folder, `${at}.rgb`);
  const lines = wanted.map(({ seed, sampler, steps }, at) => [seed, sampler, steps, PROMPT, path(at)].join("\t"));
  const { stdout, exitCode } = Bun.spawnSync([program, model, textEncoder, taesd, String(THREADS)], {
    stdin: Buffer.from(`${lines.join("\n")}\n`),
    stderr: "ignore",
  });
  if (exitCode !== 0) throw new Error(`the driver ended with code ${exitCode}`);
  const times = stdout.toString().trim().split("\n").map(Number);
  return wanted.map((_, at) => ({ pixels: readFileSync(path(at)), ms: times[at] ?? 0 }));
}

/** Draws with svc's library; returns milliseconds per step. */
async function timed(wanted: Wanted): Promise<number> {
  library.start(options({ ...wanted, prompt: PROMPT, threads: THREADS }));
  const seen: number[] = [];
  while (library.state(OWNER) === "drawing") {
    if (library.progress(OWNER).step > seen.length) seen.push(performance.now());
    await Bun.sleep(1);
  }
  library.take(OWNER);
  return ((seen.at(-1) ?? 0) - (seen[0] ?? 0)) / (seen.length - 1);
}

const program = await buildImageDriver();
const loadBegan = performance.now();
const failure = await load(rig, { threads: THREADS });
if (failure !== undefined) throw new Error(failure);
console.log(`loading: ${Math.round(performance.now() - loadBegan)} ms, once here, and for each image by a program`);

const wanted = SAMPLERS.flatMap((sampler) =>
  Array.from({ length: SEEDS }, (_, seed) => ({ seed: 100 + seed, sampler, steps: STEPS })),
);
const theirs = byDriver(program, wanted);
let equal = 0;
for (const [at, one] of wanted.entries()) {
  const pixels = await draw(rig, { ...one, prompt: PROMPT, threads: THREADS });
  if (Buffer.from(pixels).equals(theirs[at]?.pixels ?? Buffer.alloc(0))) equal++;
}
console.log(`pixels equal: ${equal} of ${wanted.length} images (${SEEDS} seeds, samplers ${SAMPLERS.join(" and ")})`);

const [here, there]: [number[], number[]] = [[], []];
for (let round = 0; round < ROUNDS; round++) {
  const one = { seed: round, sampler: "euler", steps: TIMED_STEPS };
  there.push(byDriver(program, [one])[0]?.ms ?? 0);
  here.push(await timed(one));
}
const [ours, driver] = [median(here), median(there)];
console.log(
  `a step: ${ours.toFixed(1)} ms here, ${driver.toFixed(1)} ms by the driver; speed ${(driver / ours).toFixed(3)} of its`,
);

const { samplers, schedulers } = library.traits();
for (const sampler of samplers) await draw(rig, { sampler, steps: 2 });
for (const scheduler of schedulers) await draw(rig, { scheduler, steps: 2 });
console.log(`drew with ${samplers.length} samplers and ${schedulers.length} schedulers`);
library.unload();
rmSync(folder, { recursive: true });
if (equal < wanted.length) process.exit(1);
