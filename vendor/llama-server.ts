// Builds `llama-server`, `llama-batched-bench` and `llama-bench`, the yardsticks of `npm run bench`, from the pinned
// llama.cpp sources and against the very libraries that svc ships, so that a comparison differs only in the server.

import {
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  copyFileSync,
  existsSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { run, step } from "./run.ts";

export interface LlamaServerBuild {
  /** Checked-out llama.cpp source tree. */
  readonly sources: string;
  /** Directory with the prebuilt libllama, libllama-common, libggml and libggml-base. */
  readonly libraries: string;
  /** Directory for everything built here; one subdirectory for each distinct build. */
  readonly out: string;
}

export interface LlamaTools {
  readonly server: string;
  readonly batchedBench: string;
  readonly bench: string;
}

/** No web page is served: the generated asset table is empty, as in a CMake build with the interface switched off. */
const UI_HEADER = `#pragma once
#include <array>
#include <string>
struct llama_ui_asset { std::string name; const unsigned char * data; std::size_t size; std::string etag; std::string type; };
inline const llama_ui_asset * llama_ui_find_asset(const std::string &) { return nullptr; }
inline bool llama_ui_use_gzip() { return false; }
inline const std::array<llama_ui_asset, 0> & llama_ui_get_assets() { static const std::array<llama_ui_asset, 0> none{}; return none; }
`;

/** Compute backends are not linked but found at run time. */
const LINKED = /^lib(llama-common|llama|ggml|ggml-base)(\.[a-z]+)?(\.v[\d.]+)?\.(so|dylib)$/;
const mac = process.platform === "darwin";
const [CXX, CC] = mac ? ["clang++", "clang"] : ["g++", "gcc"];
const COMMON_FLAGS = ["-std=c++17", "-fPIC", "-DNDEBUG", "-DLLAMA_SUBPROCESS", "-w", "-pthread"];
/** Code that serves requests is compiled as in a release build; image input only has to link. */
const SERVER_FLAGS = ["-O3"];
const MEDIA_FLAGS = ["-O1"];

interface Unit {
  readonly source: string;
  readonly flags: readonly string[];
}

/**
 * Builds the tools, or returns at once when the same sources, libraries and flags were built before. Takes one to six
 * minutes on two cores. Throws with the compiler's first lines when a step fails.
 */
export async function buildLlamaServer(build: LlamaServerBuild): Promise<LlamaTools> {
  const units = listUnits(build.sources);
  const target = join(build.out, `llama-server-${fingerprint(build, units)}`);
  const at = (name: string) => join(target, name);
  const tools = { server: at("llama-server"), batchedBench: at("llama-batched-bench"), bench: at("llama-bench") };
  if (Object.values(tools).some((path) => !existsSync(path))) {
    console.log(`llama-server, for benchmarks only: compiling ${units.length} files, which takes minutes`);
    await step("compiled llama-server", () => compileTools(build, units, target, tools));
  }
  makeCurrent(build.out, target);
  return tools;
}

async function compileTools(build: LlamaServerBuild, units: readonly Unit[], target: string, tools: LlamaTools) {
  const objects = join(target, "objects");
  mkdirSync(objects, { recursive: true });
  writeFileSync(join(objects, "ui.h"), UI_HEADER);
  const objectOf = (unit: Unit) => join(objects, `${unit.source.replaceAll("/", "_")}.o`);
  await forEachParallel(units, availableParallelism(), (unit) => compile(build.sources, objects, unit, objectOf(unit)));

  copyLibraries(build.libraries, target);
  const isIn = (folder: string) => (unit: Unit) => unit.source.startsWith(`tools/${folder}/`);
  const [batched, single] = [isIn("batched-bench"), isIn("llama-bench")];
  await link(units.filter((unit) => !batched(unit) && !single(unit)).map(objectOf), target, tools.server);
  await link(units.filter(batched).map(objectOf), target, tools.batchedBench);
  await link(units.filter(single).map(objectOf), target, tools.bench);
  rmSync(objects, { recursive: true });
}

/** Points `llama-server` in the build folder to the build that the benchmark uses. */
function makeCurrent(out: string, target: string): void {
  const temporary = join(out, `llama-server.${process.pid}`);
  symlinkSync(basename(target), temporary);
  renameSync(temporary, join(out, "llama-server"));
}

function listUnits(sources: string): Unit[] {
  const cpp = (folder: string, flags: readonly string[], skip: RegExp = /^$/) =>
    readdirSync(join(sources, folder))
      .filter((name) => name.endsWith(".cpp") && !skip.test(name))
      .sort()
      .map((name): Unit => ({ source: `${folder}/${name}`, flags }));
  const hashes = ["hash.cpp", "xxhash/xxhash.c", "sha1/sha1.c", "sha256/sha256.c"];
  return [
    ...cpp("tools/server", SERVER_FLAGS),
    ...cpp("tools/batched-bench", SERVER_FLAGS),
    ...cpp("tools/llama-bench", SERVER_FLAGS),
    ...cpp("tools/mtmd", MEDIA_FLAGS, /^(mtmd-cli|deprecation-warning)\.cpp$/),
    ...cpp("tools/mtmd/models", MEDIA_FLAGS),
    ...hashes.map((name): Unit => ({ source: `vendor/hash/${name}`, flags: MEDIA_FLAGS })),
  ];
}

function fingerprint(build: LlamaServerBuild, units: readonly Unit[]): string {
  const hash = new Bun.CryptoHasher("sha256");
  hash.update(JSON.stringify([basename(build.sources), units, COMMON_FLAGS, UI_HEADER]));
  for (const name of llamaLibraries(build.libraries)) {
    hash.update(`${name} ${Bun.file(join(build.libraries, name)).size}\n`);
  }
  return hash.digest("hex").slice(0, 12);
}

async function compile(sources: string, generated: string, unit: Unit, object: string): Promise<void> {
  if (existsSync(object)) return; // an interrupted build continues where it stopped
  const includes = ["include", "ggml/include", "common", "tools/mtmd", "tools/server", "vendor", "vendor/hash", "."];
  // Only C++ compiles sha1.c into the namespace that hash.cpp expects; the other two are plain C.
  const isC = /(xxhash|sha256)\.c$/.test(unit.source);
  const temporary = `${object}.part`;
  await run([
    ...(isC ? [CC] : [CXX, ...(unit.source.endsWith(".c") ? ["-x", "c++"] : [])]),
    ...COMMON_FLAGS.filter((flag) => !isC || !flag.startsWith("-std")),
    ...unit.flags,
    `-I${generated}`,
    ...includes.map((folder) => `-I${join(sources, folder)}`),
    "-c",
    join(sources, unit.source),
    "-o",
    temporary,
  ]);
  renameSync(temporary, object);
}

/** Returns llama.cpp's own files in the library set; the shim beside them changes more often. */
const llamaLibraries = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^lib(llama|ggml).*\.(so|dylib)$/.test(name))
    .sort();

/** Copies the libraries beside the executable, where it searches for backends. */
function copyLibraries(libraries: string, target: string): void {
  for (const name of llamaLibraries(libraries)) {
    const copy = join(target, name);
    rmSync(copy, { force: true });
    try {
      linkSync(join(libraries, name), copy);
    } catch {
      copyFileSync(join(libraries, name), copy); // another file system
    }
  }
}

async function link(objects: readonly string[], target: string, executable: string): Promise<void> {
  const linked = llamaLibraries(target).filter((name) => LINKED.test(name));
  const rpath = mac ? "@loader_path" : "$ORIGIN";
  const libraries = linked.map((name) => join(target, name));
  await run([CXX, ...objects, ...libraries, `-Wl,-rpath,${rpath}`, "-pthread", "-o", `${executable}.part`]);
  renameSync(`${executable}.part`, executable);
}

async function forEachParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
