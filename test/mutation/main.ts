// Mutation testing: makes small changes to source files, one at a time, and tells which ones no test notices.
//
//   npm run test:mutation -- src/scheduler --minutes 10
//   npm run test:mutation -- src/http/sse.ts --tests test/http/sse.test.ts,test/http/server.test.ts

import { cpSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { dice } from "../support/dice.ts";
import { mutantsOf, type Mutant } from "./mutants.ts";

const USAGE = "usage: bun test/mutation/main.ts PATH… [--tests FILE|FOLDER,…] [--minutes 10] [--seed 1]";
const root = join(import.meta.dir, "../..");

const { positionals: paths, values } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: "string" },
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
  },
});
if (paths.length === 0) {
  console.error(USAGE);
  process.exit(2);
}

/** The files below a path whose names match, relative to the repository. */
function filesBelow(path: string, pattern: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  return [...new Bun.Glob(pattern).scanSync(join(root, path))].sort().map((name) => join(path, name));
}

/** The tests of a source file are those of its folder, or of the nearest folder above that has any. */
function testsOf(source: string): string {
  let folder = dirname(source).replace(/^src/, "test");
  while (!existsSync(join(root, folder))) folder = dirname(folder);
  return folder;
}

// In a copy, so that the files here never hold a change, however this ends.
const copy = mkdtempSync(join(tmpdir(), "svc-mutation-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));
for (const name of ["src", "ffi", "test", "package.json", "bunfig.toml", "tsconfig.json"]) {
  cpSync(join(root, name), join(copy, name), { recursive: true });
}
for (const name of ["node_modules", "vendor"]) symlinkSync(join(root, name), join(copy, name));

/** Whether a test file passes in the copy, and in how many milliseconds. Too long a time is a failure. */
async function passes(test: string, timeoutMs: number): Promise<{ passed: boolean; ms: number }> {
  const started = performance.now();
  const child = Bun.spawn([process.execPath, "test", `./${test}`, "--bail"], {
    cwd: copy,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    timeout: Math.round(timeoutMs),
    killSignal: "SIGKILL",
  });
  return { passed: (await child.exited) === 0, ms: performance.now() - started };
}

/** Test files with their usual milliseconds, the fastest first. */
async function measure(folder: string): Promise<(readonly [string, number])[]> {
  const timed: [string, number][] = [];
  for (const test of filesBelow(folder, "**/*.test.ts")) {
    const { passed, ms } = await passes(test, 300_000);
    if (passed) timed.push([test, ms]);
    else console.log(`left out, because it fails without any change: ${test}`);
  }
  return timed.sort(([, a], [, b]) => a - b);
}

const measured = new Map<string, Promise<(readonly [string, number])[]>>();
const measureOnce = (folder: string) => measured.getOrInsertComputed(folder, measure);

async function isNoticed({ path, code }: Mutant): Promise<boolean> {
  const original = await Bun.file(join(root, path)).text();
  const folders = values.tests?.split(",") ?? [testsOf(path)];
  const tests = (await Promise.all(folders.map(measureOnce))).flat();
  await Bun.write(join(copy, path), code);
  try {
    for (const [test, ms] of tests) if (!(await passes(test, 3 * ms + 5000)).passed) return true;
    return false;
  } finally {
    await Bun.write(join(copy, path), original);
  }
}

const sources = paths.flatMap((path) => filesBelow(path, "**/*.ts"));
const all = (
  await Promise.all(sources.map(async (path) => mutantsOf(path, await Bun.file(join(root, path)).text())))
).flat();
// In random order, so that a run which is out of time has tried some of everything.
const random = dice(Number(values.seed));
const shuffled = all.map((mutant) => [random(2 ** 32), mutant] as const).sort(([a], [b]) => a - b);
const deadline = performance.now() + Number(values.minutes) * 60_000;
let tried = 0;
const survivors: Mutant[] = [];
for (const [, mutant] of shuffled) {
  if (performance.now() > deadline) break;
  tried++;
  if (await isNoticed(mutant)) continue;
  survivors.push(mutant);
  console.log(`${mutant.path}:${mutant.line}\n  - ${mutant.before}\n  + ${mutant.after}`);
}
console.log(`${tried} of ${all.length} mutants tried: ${tried - survivors.length} noticed, ${survivors.length} not`);
