// Compiles a native library of ours: the sources in its folder below ffi, and those that all of them share.

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { inParallel, run } from "./run.ts";
import { beside, compiler, CXX_FLAGS, forMac, LINK_FLAGS, platform, suffix } from "./target.ts";

export interface Shim {
  /** Of its folder; the library is called after it. */
  readonly name: string;
  /** Folders with the headers of what it is built on. */
  readonly includes: readonly string[];
  /** Objects and libraries to link with. */
  readonly parts: readonly string[];
  /** Flags of the flavour, for compiler and linker; behind the usual ones. */
  readonly flags: readonly string[];
}

const ffi = join(import.meta.dir, "../ffi");
/** `-fwrapv`: samples of damaged sound files overflow in miniaudio's decoders, and may. */
const FLAGS = [...CXX_FLAGS, "-O2", "-Wall", "-Wextra", "-fwrapv"];
/** Compilers of one library beside each other. */
const UNITS = 2;
/** What a shim links against of llama.cpp's libraries; compute backends are found at run time. */
const LINKED = new RegExp(`^(?:lib)?(llama-common|llama|ggml|ggml-base)(\\.[a-z]+)?(\\.v[\\d.]+)?\\.${suffix}$`);

export const libraryName = (shim: string): string => `libsvc_${shim}.${suffix}`;

/** Compiles the library into `folder`. Throws BuildError with the compiler's sentences. */
export async function compileShim({ name, includes, parts, flags }: Shim, folder: string): Promise<void> {
  const system = includes.flatMap((include) => ["-isystem", include]);
  const sources = shimFiles(name).filter((path) => path.endsWith(".cpp"));
  const units = await joinSources(sources, join(folder, name), UNITS);
  const objects = units.map((unit) => `${unit}.o`);
  await inParallel(units, (unit) => run([compiler, ...FLAGS, ...flags, ...system, "-c", unit, "-o", `${unit}.o`]));
  const library = libraryName(name);
  const path = [...beside, ...(forMac ? [`-Wl,-install_name,@rpath/${library}`] : [])];
  await run([compiler, ...LINK_FLAGS, ...flags, ...path, ...objects, ...parts, "-o", join(folder, library)]);
  for (const file of [...units, ...objects]) rmSync(file);
}

/**
 * Writes `count` files `PATH-N.cpp` that include all sources between them, and returns their paths. Reading the same headers
 * for each source alone takes most of the time of compiling it.
 */
export async function joinSources(sources: readonly string[], path: string, count: number): Promise<string[]> {
  const units = Array.from({ length: count }, (_, at) => sources.filter((_source, index) => index % count === at));
  return Promise.all(
    units.map(async (unit, at) => {
      await Bun.write(`${path}-${at}.cpp`, unit.map((source) => `#include "${source}"\n`).join(""));
      return `${path}-${at}.cpp`;
    }),
  );
}

/** Everything that the library depends on here: sources, headers and how they are compiled. */
export const shimFingerprint = (name: string): unknown => [
  [FLAGS, LINK_FLAGS, platform],
  [...shimFiles(name), import.meta.path].map((path) => [basename(path), readFileSync(path, "utf8")]),
];

/** The libraries of llama.cpp in `folder` to link against. */
export const linkedLibraries = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => LINKED.test(name))
    .sort()
    .map((name) => join(folder, name));

const shimFiles = (name: string): string[] =>
  ["common", name].flatMap((folder) =>
    readdirSync(join(ffi, folder))
      .filter((file) => /\.(cpp|hpp|h)$/.test(file))
      .sort()
      .map((file) => join(ffi, folder, file)),
  );
