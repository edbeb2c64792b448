// What every build step needs: running tools with errors that say what to do, making folders completely, names for
// content, and printing progress.

import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

/** A message for the person who runs the build, for whom a stack trace is no help. */
export class BuildError extends Error {
  override readonly name = "BuildError";
}

/** Thrown when a package cannot be downloaded, or the program that downloads it is missing. */
export class MissingPackage extends BuildError {}

/** Returns what `work` makes; undefined, with a printed line, when it throws MissingPackage. */
export async function unlessMissing<T>(title: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MissingPackage)) throw error;
    console.log(`left out ${title}: ${error.message}`);
    return undefined;
  }
}

/** What to install for a tool that is not a package of its own name. */
const BRINGS: Readonly<Record<string, string>> = {
  "clang++": "the Xcode command line tools",
  npm: "Node.js",
  mvn: "the package maven",
};

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
 * Makes the folder `target`: `work` fills a temporary folder, which gets the name when it is complete. No process sees
 * a partial folder, and concurrent builds do not disturb each other.
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

/** Returns the paths of what is in a folder, or of what has these names there, in order. */
export const filesIn = (folder: string, names = /./): string[] =>
  readdirSync(folder)
    .filter((name) => names.test(name))
    .sort()
    .map((name) => join(folder, name));

/** Gives `target` the content of `source`; processes that have the old file open keep it. */
export function place(source: string, target: string): void {
  if (existsSync(target) && statSync(target).ino === statSync(source).ino) return;
  const temporary = `${target}.${process.pid}`;
  rmSync(temporary, { force: true });
  try {
    linkSync(source, temporary);
  } catch {
    copyFileSync(source, temporary); // another file system
  }
  renameSync(temporary, target);
  // Renaming does nothing when both names are links to one file.
  rmSync(temporary, { force: true });
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Removes what has these names in a folder and was last written, or marked by `markUsed`, more than a day ago. */
export function removeUnused(folder: string, names: RegExp): void {
  for (const path of filesIn(folder, names)) {
    // Another build may be removing the same.
    const { mtimeMs = Infinity } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (mtimeMs < Date.now() - DAY_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Keeps `removeUnused` of other builds from removing this. */
export const markUsed = (path: string): void => utimesSync(path, new Date(), new Date());

/** Points `name` in `folder` to the version there that is used. */
export function makeCurrent(folder: string, version: string, name = "current"): void {
  const temporary = join(folder, `${name}.${process.pid}`);
  symlinkSync(version, temporary);
  renameSync(temporary, join(folder, name));
}

/** Returns a name for content that is made of JSON values. */
export const fingerprint = (content: unknown): string =>
  new Bun.CryptoHasher("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 12);

/** Throws BuildError with the message unless the bytes have this checksum, in hexadecimal digits. */
export function expectSha256(bytes: Uint8Array, sha256: string, message: string): void {
  if (new Bun.CryptoHasher("sha256").update(bytes).digest("hex") !== sha256) throw new BuildError(message);
}

/** Runs a step, then prints what it did and how long it took. Callers skip it when there is nothing to do. */
export async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  console.log(`${what} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  return result;
}

let freeCores = availableParallelism();
const waiting: (() => void)[] = [];

/** Works on items in parallel, at most one per core over all callers: a compiler needs up to 1.7 GB. */
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
