// Mutation testing: makes small changes to source files, one at a time, and reports those that no test notices.
//
//   npm run test:mutation -- src/scheduler --minutes 10
//   npm run test:mutation -- src/http/sse.ts --tests test/http/sse.test.ts,test/http/server.test.ts

import { cpSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { dice } from "../support/dice.ts";
import { exitOnSignals } from "../support/kill-at-exit.ts";
import { mutantsOf, type Mutant } from "./mutants.ts";

const { positionals: paths, values } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: "string" },
    minutes: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
  },
});
if (paths.length === 0) {
  console.error("usage: bun test/mutation/main.ts PATH… [--tests FILE|FOLDER,…] [--minutes 10] [--seed 1]");
  process.exit(2);
}

// In a copy, so that files of this tree are never changed, however the run ends, and can be edited meanwhile.
const root = join(import.meta.dir, "../..");
const copy = mkdtempSync(join(tmpdir(), "svc-mutation-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
exitOnSignals();
for (const name of ["src", "ffi", "test", "package.json", "bunfig.toml", "tsconfig.json"]) {
  cpSync(join(root, name), join(copy, name), { recursive: true });
}
for (const name of ["node_modules", "vendor"]) symlinkSync(join(root, name), join(copy, name));
process.chdir(copy);

function filesBelow(path: string, pattern: string): string[] {
  if (statSync(path).isFile()) return [path];
  return [...new Bun.Glob(pattern).scanSync(path)].sort().map((name) => join(path, name));
}

/** Returns the test files of a source file: those of its folder, or of the nearest parent folder with any. */
function testsOf(source: string): string[] {
  let folder = dirname(source).replace(/^src/, "test");
  while (!existsSync(folder)) folder = dirname(folder);
  return (values.tests?.split(",") ?? [folder]).flatMap((path) => filesBelow(path, "**/*.test.ts"));
}

/** Returns whether a test file passes; a timeout counts as a failure. */
async function passes(test: string, timeout: number): Promise<boolean> {
  const command = [process.execPath, "test", `./${test}`, "--bail"];
  const { exited } = Bun.spawn(command, { stdio: ["ignore", "ignore", "ignore"], timeout, killSignal: "SIGKILL" });
  return (await exited) === 0;
}

const sources = paths.flatMap((path) => filesBelow(path, "**/*.ts"));
const usualMs = new Map<string, number>();
for (const test of new Set(sources.flatMap(testsOf))) {
  const started = performance.now();
  if (await passes(test, 300_000)) usualMs.set(test, Math.ceil(performance.now() - started));
  else console.log(`left out, because it fails without any change: ${test}`);
}
const fastestFirst = [...usualMs].sort(([, a], [, b]) => a - b);

async function isNoticed({ path, code }: Mutant): Promise<boolean> {
  const original = await Bun.file(path).text();
  const its = testsOf(path);
  const tests = fastestFirst.filter(([test]) => its.includes(test));
  await Bun.write(path, code);
  try {
    for (const [test, ms] of tests) if (!(await passes(test, 3 * ms + 5000))) return true;
    return false;
  } finally {
    await Bun.write(path, original);
  }
}

const all = (await Promise.all(sources.map(async (path) => mutantsOf(path, await Bun.file(path).text())))).flat();
// In random order, so that a run that is out of time has tried some mutants of every file.
const random = dice(Number(values.seed));
const shuffled = all.map((mutant) => [random(2 ** 32), mutant] as const).sort(([a], [b]) => a - b);
const deadline = performance.now() + Number(values.minutes) * 60_000;
let [noticed, missed] = [0, 0];
for (const [, mutant] of shuffled) {
  if (performance.now() > deadline) break;
  if (await isNoticed(mutant)) noticed++;
  else {
    missed++;
    console.log(`${mutant.path}:${mutant.line}\n  - ${mutant.before}\n  + ${mutant.after}`);
  }
}
console.log(`${noticed + missed} of ${all.length} mutants tried: ${noticed} noticed, ${missed} not`);
