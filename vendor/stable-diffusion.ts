// The image library: stable-diffusion.cpp with a ggml of its own, and our shim over it, all in one file. It needs longer names
// in ggml than other libraries do, so it shares nothing with them, and a process has either.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { fingerprint, place } from "./media.ts";
import { BuildError, inParallel, makeFolder, run, step } from "./run.ts";
import { flavourFlags } from "./sanitizers.ts";
import { compiler, compileShim, CXX_FLAGS, libraryName, shimFingerprint } from "./shim.ts";
import { fetchCrate, MissingCrate } from "./crate.ts";
import pin from "./stable-diffusion.json" with { type: "json" };
import { assembleVocabularies, packVocabularies } from "./vocabularies.ts";

const out = join(import.meta.dir, ".build");
const inside = join(import.meta.dir, "../ffi/image/inside");
const mac = process.platform === "darwin";
const arch = process.arch === "arm64" ? "arm" : "x86";

/** What is compiled alike: sources by their folder, and flags. */
interface Part {
  /** Below the sources of the library; `*` stands for all C and C++ files that are right in the folder. */
  readonly sources: readonly string[];
  readonly skip?: RegExp;
  /** They are compiled as one: reading the same headers for each alone would take most of the time. */
  readonly isJoined?: true;
  readonly flags: readonly string[];
}

// Its warnings are upstream's.
const FLAGS = [...CXX_FLAGS, "-ffunction-sections", "-fdata-sections", "-w", "-DGGML_MAX_NAME=128", "-DGGML_USE_CPU"];
const GGML_FLAGS = [
  "-DGGML_SCHED_MAX_COPIES=4",
  `-DGGML_VERSION="0.12.0"`,
  `-DGGML_COMMIT="${pin.crate}-${pin.version}"`,
  ...(mac ? ["-D_DARWIN_C_SOURCE"] : ["-D_GNU_SOURCE", "-D_XOPEN_SOURCE=600"]),
];
/** Graphs are computed through ffi/image/compute.cpp, which can stop them. */
const SD_FLAGS = ["-Dggml_backend_graph_compute=svc_image_compute"];
/** It builds graphs and runs samplers: more than -O1 takes half as long again to compile, and makes no step faster. */
export const MAIN_FLAGS: readonly string[] = ["-O1", ...SD_FLAGS];
/** What every processor of the last ten years has; ffi/image/load.cpp looks whether it is there. */
const BASELINE = process.arch === "x64" ? ["-march=x86-64-v3"] : [];

const PARTS: Readonly<Record<string, Part>> = {
  main: { sources: [join(inside, "inside.cpp")], flags: MAIN_FLAGS },
  rest: {
    sources: ["src/*", "src/core/*", "src/extensions/*", "src/model_io/*", "src/runtime/*", "src/tokenizers/*"],
    skip: /\/(stable-diffusion|version|convert|ggml_graph_cut)\.cpp$/,
    isJoined: true,
    flags: MAIN_FLAGS,
  },
  // It includes what the others have another declaration of.
  cut: { sources: ["src/core/ggml_graph_cut.cpp"], flags: MAIN_FLAGS },
  kernels: {
    sources: [
      "ggml/src/ggml-cpu/*",
      `ggml/src/ggml-cpu/arch/${arch}/*`,
      "ggml/src/ggml-cpu/amx/*",
      "ggml/src/ggml-cpu/llamafile/*",
    ],
    skip: /\/(cpu-feats|hbm)\.cpp$/,
    // Llamafile's matrix products take a quarter off each image.
    flags: ["-O3", "-DGGML_USE_CPU_REPACK", "-DGGML_USE_LLAMAFILE", ...GGML_FLAGS, ...BASELINE],
  },
  ggml: { sources: ["ggml/src/*", "thirdparty/zip.c"], skip: /ggml-opt/, flags: ["-O2", ...GGML_FLAGS] },
};
const INCLUDES = ["", "include", "src", "src/core", "thirdparty", "ggml/include", "ggml/src", "ggml/src/ggml-cpu"];

export interface SdObjects {
  readonly objects: readonly string[];
  /** Folder with the sources. */
  readonly sources: string;
  /** Identifies version, sources and flags. */
  readonly id: string;
}

/**
 * Builds the image library and puts it beside the llama shim, so that development runs find it there. Takes two minutes the
 * first time, and seconds after a change of the shim. Returns its path; undefined, with a line about it, where the sources
 * cannot be had or do not compile. Throws BuildError when they are not the pinned ones.
 */
export async function buildImage(flavour: Flavour): Promise<string | undefined> {
  const { libraries } = await buildLlama(flavour);
  const name = libraryName("image");
  try {
    const { objects, sources, id } = await compileStableDiffusion();
    const self = readFileSync(import.meta.path, "utf8");
    const target = join(
      out,
      "image",
      `${flavour}-${fingerprint([id, self, shimFingerprint("image"), flavourFlags(flavour)])}`,
    );
    if (!existsSync(target)) {
      await step("compiled the image shim", () =>
        makeFolder(target, async (temporary) => {
          const includes = [...INCLUDES.map((folder) => join(sources, folder)), inside];
          const parts = [...objects, ...(await exportsOnly(temporary))];
          const flags = ["-DGGML_MAX_NAME=128", ...flavourFlags(flavour)];
          await compileShim({ name: "image", includes, parts, flags }, temporary);
        }),
      );
    }
    place(join(target, name), join(libraries, name));
    return join(libraries, name);
  } catch (error) {
    if (!(error instanceof MissingCrate || error instanceof CompileError)) throw error;
    // Of a compiler's many, the first.
    console.log(`left out the image library: ${error.message.split("\n").slice(0, 2).join(" ")}`);
    return undefined;
  }
}

/** A compiler does not take it. */
class CompileError extends BuildError {}

/**
 * Compiles stable-diffusion.cpp and its ggml, the same for all flavours: what is undefined there is not ours to mend. What was
 * compiled before is kept, also when a build was interrupted.
 */
export async function compileStableDiffusion(): Promise<SdObjects> {
  const crate = await fetchCrate(pin, join(out, "packages"), { prepare: packVocabularies });
  const sources = join(crate, "stable-diffusion.cpp");
  const ours = readdirSync(inside).map((file) => readFileSync(join(inside, file), "utf8"));
  const id = fingerprint([pin, PARTS, FLAGS, Object.values(PARTS).map(({ skip }) => String(skip)), ours]);
  const folder = join(out, "image", `sd-${id}`);
  mkdirSync(folder, { recursive: true });
  const units = (
    await Promise.all(Object.entries(PARTS).map(([name, part]) => unitsOf(sources, name, part, folder)))
  ).flat();
  units.push({ source: await assembleVocabularies(join(sources, "vocabularies"), folder), flags: [] });
  const nameOf = (source: string) => (source.startsWith(sources) ? relative(sources, source) : basename(source));
  const objectOf = (source: string) => join(folder, `${nameOf(source).replaceAll("/", "_")}.o`);
  const missing = units.filter(({ source }) => !existsSync(objectOf(source)));
  if (missing.length > 0) {
    await step("compiled stable-diffusion.cpp, for images", () =>
      inParallel(missing, ({ source, flags }) => compileSdUnit(sources, source, objectOf(source), flags)),
    );
  }
  return { objects: units.map(({ source }) => objectOf(source)), sources, id };
}

interface Unit {
  readonly source: string;
  readonly flags: readonly string[];
}

async function unitsOf(sources: string, name: string, part: Part, folder: string): Promise<Unit[]> {
  const files = part.sources.flatMap((pattern) => filesOf(sources, pattern)).filter((file) => !part.skip?.test(file));
  const { isJoined, flags } = part;
  if (!isJoined) return files.map((source) => ({ source, flags }));
  const source = join(folder, `${name}.cpp`);
  // A static function of this name is in several.
  const lines = files.map((file, at) => `#define set_error set_error_${at}\n#include "${file}"\n#undef set_error\n`);
  await Bun.write(source, lines.join(""));
  return [{ source, flags }];
}

function filesOf(sources: string, pattern: string): string[] {
  const path = pattern.startsWith("/") ? pattern : join(sources, pattern);
  if (!path.endsWith("*")) return [path];
  const folder = path.slice(0, -2);
  return readdirSync(folder)
    .filter((file) => /\.(c|cpp)$/.test(file))
    .sort()
    .map((file) => join(folder, file));
}

/** Compiles a file the way all of the library is compiled. Throws BuildError. */
export async function compileSdUnit(
  sources: string,
  unit: string,
  object: string,
  flags: readonly string[],
): Promise<void> {
  const isC = unit.endsWith(".c");
  const language = unit.endsWith(".s") ? [] : isC ? ["-x", "c", "-std=gnu11"] : ["-x", "c++"];
  const own = unit.endsWith(".s") ? [] : FLAGS.filter((flag) => !isC || !flag.startsWith("-std"));
  const includes = INCLUDES.map((folder) => `-I${join(sources, folder)}`);
  const temporary = `${object}.${process.pid}`;
  try {
    await run([compiler, ...language, ...own, ...includes, `-I${inside}`, ...flags, "-c", unit, "-o", temporary]);
  } catch (error) {
    throw error instanceof BuildError ? new CompileError(error.message) : error;
  }
  renameSync(temporary, object);
}

/** What tells the linker that nothing but the shim's functions leaves the library: upstream marks its own as exported. */
async function exportsOnly(folder: string): Promise<string[]> {
  if (mac) return ["-Wl,-exported_symbol,_svc_*"];
  const script = join(folder, "exports.map");
  await Bun.write(script, "{ global: svc_*; local: *; };\n");
  return [`-Wl,--version-script=${script}`];
}
