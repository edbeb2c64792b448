// Compiles one of our native libraries: the sources in its folder below ffi, and those that all of them share.

import { existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { filesIn, fingerprint, inParallel, makeFolder, place, run, step } from "./run.ts";
import { flavourFlags } from "./sanitizers.ts";
import { beside, compiler, compilerVersion, CXX_FLAGS, forMac, LINK_FLAGS, platform, suffix } from "./target.ts";

export interface Shim {
  /** Name of its folder; the library is named after it. */
  readonly name: string;
  /** Folders with the headers that it needs. */
  readonly includes: readonly string[];
  /** Objects and libraries to link with. */
  readonly parts: readonly string[];
  /** Flags of the flavour for compiler and linker, after the usual ones. */
  readonly flags: readonly string[];
}

export interface ShimLibrary extends Pick<Shim, "name" | "includes"> {
  readonly flavour: string;
  /** The llama library set, which it is linked with and put into. */
  readonly libraries: string;
  /** It is not linked with the set. */
  readonly isAlone?: true;
  /** What it depends on beside shim and libraries, as JSON values. */
  readonly content: unknown;
  /** Makes more objects to link with. */
  readonly parts?: () => Promise<readonly string[]>;
  readonly flags?: readonly string[];
}

const ffi = join(import.meta.dir, "../ffi");
/** `-fwrapv`: samples of damaged sound files may overflow in miniaudio's decoders. */
const FLAGS = [...CXX_FLAGS, "-O2", "-Wall", "-Wextra", "-fwrapv"];
/** The llama.cpp libraries that a shim links against; compute backends are found at run time. */
const LINKED = new RegExp(`^(?:lib)?(llama-common|llama|ggml|ggml-base)(\\.[a-z]+)?(\\.v[\\d.]+)?\\.${suffix}$`);

export const libraryName = (shim: string): string => `libsvc_${shim}.${suffix}`;

/**
 * Compiles a library unless it was compiled before, and puts it beside the llama shim, so that development runs find it
 * there. Returns its path; throws BuildError when a step fails.
 */
export async function shimLibrary(library: ShimLibrary): Promise<string> {
  const { name, flavour, libraries, content, includes, parts } = library;
  const linked = library.isAlone ? [] : linkedLibraries(libraries);
  const flags = [...(library.flags ?? []), ...flavourFlags(flavour)];
  const id = fingerprint([content, shimFingerprint(name), flags, sizesOf(linked)]);
  const target = join(import.meta.dir, ".build", name, `${flavour}-${id}`);
  if (!existsSync(target)) {
    const own = (await parts?.()) ?? [];
    await step(`compiled the ${name} shim`, () =>
      makeFolder(target, (folder) => compileShim({ name, includes, parts: [...own, ...linked], flags }, folder)),
    );
  }
  const path = join(libraries, libraryName(name));
  place(join(target, libraryName(name)), path);
  return path;
}

/** Compiles a file, in the language of its name unless one is given; C++'s standard is no flag of C. */
export async function compileObject(
  unit: string,
  object: string,
  flags: readonly string[],
  language?: "c" | "c++",
): Promise<void> {
  const own = language === "c" ? flags.filter((flag) => !flag.startsWith("-std=c++")) : flags;
  const temporary = `${object}.${process.pid}`;
  await run([compiler, ...(language ? ["-x", language] : []), ...own, "-c", unit, "-o", temporary]);
  renameSync(temporary, object);
}

/** Compiles the library into `folder`. Throws BuildError with the compiler's messages. */
export async function compileShim({ name, includes, parts, flags }: Shim, folder: string): Promise<void> {
  const system = includes.flatMap((include) => ["-isystem", include]);
  const sources = shimFiles(name).filter((path) => path.endsWith(".cpp"));
  const unit = await joinSources(sources, join(folder, name));
  const object = `${unit}.o`;
  await inParallel([unit], () => run([compiler, ...FLAGS, ...flags, ...system, "-c", unit, "-o", object]));
  const library = libraryName(name);
  const path = [...beside, ...(forMac ? [`-Wl,-install_name,@rpath/${library}`] : [])];
  await run([compiler, ...LINK_FLAGS, ...flags, ...path, object, ...parts, "-o", join(folder, library)]);
  for (const file of [unit, object]) rmSync(file);
}

/**
 * Writes a file `PATH.cpp` that includes all sources, and returns its path. Compiling each source alone would take most of
 * its time to read the same headers.
 */
export async function joinSources(sources: readonly string[], path: string): Promise<string> {
  const unit = `${path}.cpp`;
  await Bun.write(unit, sources.map((source) => `#include "${source}"\n`).join(""));
  return unit;
}

/** Returns everything here that the library depends on: sources, headers and how they are compiled. */
export const shimFingerprint = (name: string): unknown => [
  [FLAGS, LINK_FLAGS, platform, compilerVersion()],
  [...shimFiles(name), import.meta.path].map((path) => [basename(path), readFileSync(path, "utf8")]),
];

/** Returns the llama.cpp libraries in `folder` to link against. */
export const linkedLibraries = (folder: string): string[] => filesIn(folder, LINKED);

/** Returns the names and sizes of files, which tell versions of a library apart. */
export const sizesOf = (paths: readonly string[]): unknown =>
  paths.map((path) => [basename(path), statSync(path).size]);

const shimFiles = (name: string): string[] =>
  ["common", name].flatMap((folder) => filesIn(join(ffi, folder), /\.(cpp|hpp|h)$/));
