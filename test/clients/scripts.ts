// Runs the scripts of checks, in whatever language, and adds up what they count.

import { counts, skipped } from "./checks.ts";

interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program to its end and returns its output. */
export async function run(command: readonly string[], { cwd, env = {} }: RunOptions): Promise<string> {
  const options = { cwd, stdin: "ignore", stdout: "pipe", stderr: "inherit" } as const;
  const child = Bun.spawn([...command], { ...options, env: { ...process.env, ...env } });
  const [output, status] = await Promise.all([child.stdout.text(), child.exited]);
  if (status !== 0) throw new Error(`${command.join(" ")} ended with ${status}\n${output}`);
  return output;
}

/** Runs a script of checks and adds the counts of its last line, and what it skipped, to the totals. */
export async function runChecks(command: readonly string[], options: RunOptions): Promise<void> {
  const output = await run(command, options);
  // Maven colours even nothing.
  const lines = Bun.stripANSI(output).trimEnd().split("\n");
  const total = /^(\d+) passed, (\d+) failed$/.exec(lines.pop() ?? "");
  if (!total) throw new Error(`${command.join(" ")} ended without a count:\n${output}`);
  console.log(`\n${lines.join("\n")}`);
  skipped.push(...lines.flatMap((line) => /^skip  (.+)$/.exec(line)?.[1] ?? []));
  counts.passed += Number(total[1]);
  counts.failed += Number(total[2]);
}
