// `npm run test:sanitize`: runs the tests of our native code with libraries that check memory (AddressSanitizer) and
// undefined behaviour (UBSan). Fails with the first report of each process, even if a test would only notice that an
// engine died.
//   npm run test:sanitize -- [--cases N] [--conversations N] [--only NAME]

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BuildError } from "../../vendor/run.ts";
import { sanitizerRuntimes } from "../../vendor/sanitizers.ts";

const REPORT = "report";
const ROOT = join(import.meta.dir, "../..");
const text = { type: "string" } as const;
const { values } = parseArgs({ options: { cases: text, conversations: text, only: text } });
const { cases = "1000", conversations = "200", only } = values;

/** Some tests are ten times slower. One is excluded: its answers are a tie with the kernels of this build. */
const OTHERWISE = "other --lora flags";
const TEST = ["test", "--timeout=300000", "--parallel=2", `--test-name-pattern=^(?!.*(${OTHERWISE}))`];
const suites: Readonly<Record<string, readonly string[]>> = {
  native: [...TEST, "./test/native", "./test/json-schema"],
  sounds: [...TEST, "./test/audio/decode/formats.test.ts", "./test/audio/decode/hostile.test.ts"],
  engine: [...TEST, "./test/engine", "./test/media"],
  parsers: [...TEST, "./test/fuzz/parsers.test.ts"],
  fuzz: ["test/fuzz/main.ts", "--cases", cases],
  "cross-talk": ["test/soak/cross-talk.ts", "--conversations", conversations, "--threads", "1"],
};

/** Runs bun with these arguments; resolves with whether it succeeded. */
async function bun(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const child = Bun.spawn([process.execPath, ...words], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return (await child.exited) === 0;
}

/** Prints the reports of a suite's processes, and returns their number. */
function reports(folder: string): number {
  const names = readdirSync(folder).filter((name) => name.startsWith(REPORT));
  for (const name of names) {
    console.log(`--- ${name}\n${readFileSync(join(folder, name), "utf8").slice(0, 6000)}`);
    rmSync(join(folder, name));
  }
  return names.length;
}

async function main(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "svc-sanitize-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const runtimes = await sanitizerRuntimes(folder);
  const log = `log_path=${join(folder, REPORT)}`;
  const env = {
    LD_PRELOAD: runtimes.join(":"),
    // Bun's garbage collector hides reachable memory, and its own traps are signals. Freed memory is kept for a
    // while, but not so much that the fuzzer would call it a leak.
    ASAN_OPTIONS: `${log}:detect_leaks=0:handle_segv=0:use_sigaltstack=0:allocator_may_return_null=1:quarantine_size_mb=32`,
    UBSAN_OPTIONS: `${log}:print_stacktrace=1`,
    FUZZ_CASES: cases,
    SVC_THREADS: "1",
  };
  const bad: string[] = [];
  try {
    if (!(await bun(["build.ts", "media", "--flavour", "sanitize"]))) return false;
    for (const [name, words] of Object.entries(suites)) {
      if (only !== undefined && only !== name) continue;
      console.log(`=== ${name}`);
      const passed = await bun(words, env);
      if (reports(folder) > 0 || !passed) bad.push(name);
    }
  } finally {
    // Makes runs from source find the libraries without sanitizers again.
    await bun(["build.ts", "media"]);
  }
  console.log(bad.length === 0 ? "sanitize: no finding" : `sanitize: ${bad.join(", ")} failed`);
  return bad.length === 0;
}

try {
  process.exit((await main()) ? 0 : 1);
} catch (error) {
  console.error(error instanceof BuildError ? `svc: ${error.message}` : error);
  process.exit(1);
}
