// What every build step needs: tools with errors that say what to do, folders made whole, and a line about it.

import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";

/** A sentence for the person who runs the build; no stack trace helps. */
export class BuildError extends Error {
  override readonly name = "BuildError";
}

/** What brings a tool, where that is not a package of its name. */
const BRINGS: Readonly<Record<string, string>> = { "clang++": "the Xcode command line tools", npm: "Node.js" };

/** Throws BuildError about the first of these programs that is not installed. */
export function requireTools(tools: readonly string[]): void {
  const missing = tools.find((tool) => !Bun.which(tool));
  if (missing === undefined) return;
  throw new BuildError(
    `\`${missing}\` is needed to build svc. Install ${BRINGS[missing] ?? `the package ${missing}`}.`,
  );
}

/** Runs a command and returns its standard output. Throws BuildError with the end of its stderr when it fails. */
export async function run(command: readonly string[], cwd?: string): Promise<string> {
  requireTools(command.slice(0, 1));
  const child = Bun.spawn([...command], { ...(cwd && { cwd }), stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (status === 0) return stdout;
  const lines = `${stderr}\n${stdout}`.trim().split("\n");
  throw new BuildError(`\`${command.slice(0, 3).join(" ")} …\` failed:\n${lines.slice(-15).join("\n")}`);
}

/**
 * Makes the folder `target`: `work` fills a temporary one, which gets the name when it is complete. Nobody meets a
 * half-made folder, and two builds at once do not disturb each other.
 */
export async function makeFolder(target: string, work: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${target}.part-${process.pid}`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  try {
    await work(temporary);
    if (!existsSync(target)) renameSync(temporary, target);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Prints what a step does and how long it took; a step with nothing to do is silent. */
export async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  console.log(`${what} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  return result;
}

let freeCores = availableParallelism();
const waiting: (() => void)[] = [];

/** Works at items beside each other, one a core whoever calls this: a compiler needs up to 1.7 GB. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  await Promise.all(
    items.map(async (item) => {
      if (freeCores > 0) freeCores--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        await work(item);
      } finally {
        const next = waiting.shift();
        if (next) next();
        else freeCores++;
      }
    }),
  );
}
