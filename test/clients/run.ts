// `npm run test:clients`: real SDKs of two languages and two major versions each, and an agent framework, unmodified,
// against a running svc: the sources, or the command after two dashes. Prints a line a check and, last, `N passed, N
// failed`. Needs npm and Python 3 with venv; installs below vendor/.build.

import { join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { FROM_SOURCE, withServer } from "../support/server.ts";

/** Folders with a package.json; each has one major version of the TypeScript SDK. */
const NODE_FOLDERS = [".", "older"];
const PYTHON_MAJORS = ["3", "1"];

const root = join(import.meta.dir, "../..");
const built = join(root, "vendor/.build");
const counts = { passed: 0, failed: 0 };

interface RunOptions {
  /** Below this folder. */
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
}

async function run(command: readonly string[], { folder = ".", env = {} }: RunOptions = {}): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: join(import.meta.dir, folder),
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const [output, status] = await Promise.all([child.stdout.text(), child.exited]);
  if (status !== 0) throw new Error(`${command.join(" ")} ended with ${status}\n${output}`);
  return output;
}

/** The interpreter of an environment of its own for each major version; created when its pins change. */
async function pythonWith(major: string): Promise<string> {
  const requirements = `requirements-openai-${major}.txt`;
  const pins = await Bun.file(join(import.meta.dir, requirements)).text();
  const folder = join(built, `clients/python-openai-${major}`);
  const python = join(folder, "bin/python");
  const marker = Bun.file(join(folder, "installed.txt"));
  if ((await marker.exists()) && (await marker.text()) === pins) return python;
  await run(["python3", "-m", "venv", "--clear", folder]);
  await run([
    python,
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--no-deps",
    "-r",
    requirements,
  ]);
  await marker.write(pins);
  return python;
}

/** Runs a script of checks and adds its last line, the counts, to the sum. */
async function runChecks(script: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const output = await run(script, { env });
  const lines = output.trimEnd().split("\n");
  const total = /^(\d+) passed, (\d+) failed$/.exec(lines.pop() ?? "");
  if (!total) throw new Error(`${script.join(" ")} ended without a count:\n${output}`);
  console.log(`\n${lines.join("\n")}`);
  counts.passed += Number(total[1]);
  counts.failed += Number(total[2]);
}

const command = process.argv.length > 2 ? process.argv.slice(2) : FROM_SOURCE;
for (const folder of NODE_FOLDERS) await run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], { folder });
const pythons = await Promise.all(PYTHON_MAJORS.map(pythonWith));
const endlessModel = makeModel("60m", join(built, "models"));

await withServer(
  [],
  (mini) =>
    withServer(
      ["--model", endlessModel, "--ctx", "8192", "--parallel", "4"],
      async (endless) => {
        const env = { SVC_URL: mini.url, ENDLESS_URL: endless.url };
        for (const folder of NODE_FOLDERS) await runChecks([process.execPath, "openai.ts", folder], env);
        await runChecks([process.execPath, "ai-sdk.ts"], env);
        for (const python of pythons) await runChecks([python, "openai_client.py"], env);
      },
      command,
    ),
  command,
);
console.log(`\n${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1);
