// Builds the image library: stable-diffusion.cpp with its own ggml, and our shim over it, all in one file. It needs
// longer names in ggml than other libraries do, so it shares nothing with them, and a process loads only one of the
// two.

import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import type { Flavour, LlamaBuild } from "./llama.ts";
import { BuildError, expectSha256, filesIn, fingerprint, inParallel, makeFolder, run, step } from "./run.ts";
import { compileObject, shimLibrary } from "./shim.ts";
import { compilerVersion, CXX_FLAGS, forArm, forMac, forWindows, GGML_DEFINES } from "./target.ts";
import pin from "./stable-diffusion.json" with { type: "json" };
import { assembleVocabularies, packVocabularies } from "./vocabularies.ts";

const out = join(import.meta.dir, ".build");
const SOURCES = "stable-diffusion.cpp";
const inside = join(import.meta.dir, "../ffi/image/inside");
const arch = forArm ? "arm" : "x86";

/** Sources that are compiled alike, and their flags. */
interface Part {
  /** Paths below the library's sources; `*` stands for all C and C++ files directly in the folder. */
  readonly sources: readonly string[];
  readonly skip?: RegExp;
  /**
   * One of our files below ffi/image/inside, to precede these: all are compiled as one unit. Compiling each alone would
   * take most of the time to read the same headers and instantiate the same templates.
   */
  readonly begins?: string;
  readonly flags: readonly string[];
}

// -w: the warnings are upstream's.
const FLAGS = [...CXX_FLAGS, "-ffunction-sections", "-fdata-sections", "-w", "-DGGML_MAX_NAME=128", "-DGGML_USE_CPU"];
const GGML_FLAGS = [
  "-DGGML_SCHED_MAX_COPIES=4",
  `-DGGML_VERSION="0.12.0"`,
  `-DGGML_COMMIT="${pin.crate}-${pin.version}"`,
  ...(forMac ? ["-D_DARWIN_C_SOURCE"] : ["-D_GNU_SOURCE", "-D_XOPEN_SOURCE=600"]),
  ...GGML_DEFINES,
];
/** Graphs are computed through ffi/image/compute.cpp, which can stop them. */
const SD_FLAGS = [
  "-Dggml_backend_graph_compute=svc_image_compute",
  ...(forWindows ? ["-include", "utf8-paths.hpp"] : []),
];
/**
 * This code builds graphs and runs samplers: -O1 takes half as long again to compile as -Og, and makes no step faster.
 */
export const MAIN_FLAGS: readonly string[] = ["-Og", ...SD_FLAGS];
/** Every processor of the last ten years supports this; ffi/image/load.cpp checks for it. */
const BASELINE = forArm ? [] : ["-march=x86-64-v3"];
/** The files of ggml that only read files and find devices. */
const SETTING_UP = ["ggml-backend-dl", "ggml-backend-meta", "ggml-backend-reg", "gguf"];

const PARTS = {
  main: {
    begins: "inside.cpp",
    sources: ["src/*", "src/core/*", "src/extensions/*", "src/model_io/*", "src/runtime/*", "src/tokenizers/*"],
    skip: /\/(stable-diffusion|version|convert|ggml_graph_cut)\.cpp$/,
    flags: MAIN_FLAGS,
  },
  // Compiled alone, because it includes what the others declare differently.
  cut: { sources: ["src/core/ggml_graph_cut.cpp"], flags: MAIN_FLAGS },
  kernels: {
    sources: ["ggml/src/ggml-cpu/*", `ggml/src/ggml-cpu/arch/${arch}/*`, "ggml/src/ggml-cpu/llamafile/*"],
    // Repacked weights and AMX are for buffers that stable-diffusion.cpp does not use.
    skip: /\/(cpu-feats|hbm|repack)\.cpp$/,
    // Llamafile's matrix products make each image a quarter faster.
    flags: ["-O3", "-DGGML_USE_LLAMAFILE", ...GGML_FLAGS, ...BASELINE],
  },
  ggml: {
    sources: ["ggml/src/*", "thirdparty/zip.c"],
    skip: new RegExp(`/(ggml-opt|${SETTING_UP.join("|")})\\.cpp$`),
    flags: ["-O2", ...GGML_FLAGS],
  },
  settingUp: { sources: SETTING_UP.map((name) => `ggml/src/${name}.cpp`), flags: ["-Og", ...GGML_FLAGS] },
} as const satisfies Readonly<Record<string, Part>>;
/** Static functions with these names occur in several of the files that are compiled as one. */
const TWICE = ["set_error", "get_cache_reuse_threshold"];
/**
 * Functions that a file must call by another name. Its own function accepts every character; the C library's reads
 * beyond its table for those above 255, which ends the process for the highest.
 */
const INSTEAD: Readonly<Record<string, readonly [string, string]>> = { "tokenize_util.cpp": ["isspace", "is_space"] };
const INCLUDES = ["", "include", "src", "src/core", "thirdparty", "ggml/include", "ggml/src", "ggml/src/ggml-cpu"];

export interface SdObjects {
  readonly objects: readonly string[];
  /** Folder with the sources. */
  readonly sources: string;
  /** Identifies version, sources and flags. */
  readonly id: string;
}

/**
 * Builds the image library and puts it beside the llama shim, so that development runs find it there. Takes half a
 * minute the first time, and seconds after a change of the shim; only the last step waits for `llama`. Returns its
 * path; undefined, with a printed line, where the sources cannot be fetched or do not compile. Throws BuildError when
 * they are not the pinned ones.
 */
export async function buildImage(flavour: Flavour, llama: Promise<LlamaBuild>): Promise<string | undefined> {
  try {
    const { objects, sources, id } = await compileStableDiffusion();
    const { libraries } = await llama;
    return await shimLibrary({
      name: "image",
      flavour,
      libraries,
      isAlone: true,
      content: [id, readFileSync(import.meta.path, "utf8")],
      includes: [...INCLUDES.map((folder) => join(sources, folder)), inside],
      parts: async () => [...objects, ...(await exportsOnly())],
      // The shim itself computes nothing, so -O1 is enough.
      flags: ["-O1", "-DGGML_MAX_NAME=128"],
    });
  } catch (error) {
    if (!(error instanceof LeftOut)) throw error;
    // Only the first of a compiler's many lines.
    console.log(`left out the image library: ${error.message.split("\n").slice(0, 2).join(" ")}`);
    return undefined;
  }
}

/** Thrown when the sources cannot be fetched or do not compile. */
class LeftOut extends BuildError {}

/** Unpacks the sources, unless that was done before, and returns their folder. Throws BuildError. */
async function unpackedSources(): Promise<string> {
  const name = `${pin.crate}-${pin.version}`;
  const target = join(out, "packages", name);
  if (existsSync(target)) return join(target, SOURCES);
  await step(`fetched the crate ${name}`, () =>
    makeFolder(target, async (temporary) => {
      const archive = join(temporary, "archive.tar.gz");
      const bytes = await download();
      expectSha256(bytes, pin.sha256, `${name} is not the crate that is pinned below vendor.`);
      await Bun.write(archive, bytes);
      await run(["tar", "xzf", archive, "-C", temporary, "--strip-components=1"]);
      rmSync(archive);
      await packVocabularies(temporary);
    }),
  );
  return join(target, SOURCES);
}

async function download(): Promise<Uint8Array> {
  try {
    const response = await fetch(pin.url);
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
    return await response.bytes();
  } catch (error) {
    throw new LeftOut(`${pin.url} cannot be fetched (${error instanceof Error ? error.message : error})`);
  }
}

/**
 * Compiles stable-diffusion.cpp and its ggml, the same for all flavours: undefined behaviour there is not ours to fix.
 * Keeps what was compiled before, even by an interrupted build.
 */
export async function compileStableDiffusion(): Promise<SdObjects> {
  const sources = await unpackedSources();
  const ours = filesIn(inside).map((path) => readFileSync(path, "utf8"));
  const id = fingerprint([
    compilerVersion(),
    pin,
    PARTS,
    FLAGS,
    TWICE,
    INSTEAD,
    Object.values<Part>(PARTS).map(({ skip }) => String(skip)),
    ours,
  ]);
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
  const { begins, flags } = part;
  const files = sourcesOf(sources, part);
  if (begins === undefined) return files.map((source) => ({ source, flags }));
  return [{ source: await joined([join(inside, begins), ...files], join(folder, `${name}.cpp`)), flags }];
}

/** Writes the part of the library that is compiled as one unit, beginning with file `first`, and returns its path. */
export const mainWith = (first: string, sources: string, path: string): Promise<string> =>
  joined([first, ...sourcesOf(sources, PARTS.main)], path);

async function joined(files: readonly string[], path: string): Promise<string> {
  const blocks = files.map((file, at) => {
    const instead = INSTEAD[basename(file)];
    const names = [...TWICE.map((name) => [name, `${name}_${at}`] as const), ...(instead ? [instead] : [])];
    const renamed = names.map(([name, other]) => `#define ${name} ${other}\n`).join("");
    return `${renamed}#include "${file}"\n${names.map(([name]) => `#undef ${name}\n`).join("")}`;
  });
  await Bun.write(path, blocks.join(""));
  return path;
}

const sourcesOf = (sources: string, { sources: patterns, skip }: Part): string[] =>
  patterns
    .map((pattern) => join(sources, pattern))
    .flatMap((path) => (path.endsWith("*") ? filesIn(path.slice(0, -2), /\.(c|cpp)$/) : [path]))
    .filter((file) => !skip?.test(file));

/** Compiles a file the way all of the library is compiled. Throws BuildError. */
export async function compileSdUnit(
  sources: string,
  unit: string,
  object: string,
  flags: readonly string[],
): Promise<void> {
  const own = [...INCLUDES.map((folder) => `-I${join(sources, folder)}`), `-I${inside}`, ...flags];
  try {
    if (unit.endsWith(".s")) await compileObject(unit, object, own);
    else if (unit.endsWith(".c")) await compileObject(unit, object, ["-std=gnu11", ...FLAGS, ...own], "c");
    else await compileObject(unit, object, [...FLAGS, ...own], "c++");
  } catch (error) {
    throw error instanceof BuildError ? new LeftOut(error.message) : error;
  }
}

/** Returns linker flags that export only the shim's functions: upstream marks its own as exported, except on Windows. */
async function exportsOnly(): Promise<string[]> {
  if (forWindows) return [];
  if (forMac) return ["-Wl,-exported_symbol,_svc_*"];
  const script = join(out, "image/exports.map");
  await Bun.write(script, "{ global: svc_*; local: *; };\n");
  return [`-Wl,--version-script=${script}`];
}
