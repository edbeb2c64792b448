// Builds the media library: llama.cpp's mtmd and our shim over it, linked against the very libraries that the llama
// shim uses.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { filesIn, fingerprint, inParallel, requireTools, step } from "./run.ts";
import { flavourFlags } from "./sanitizers.ts";
import { compileObject, joinSources, shimLibrary } from "./shim.ts";
import { compiler, compilerVersion, CXX_FLAGS } from "./target.ts";
import versions from "./versions.json" with { type: "json" };

export interface MtmdObjects {
  readonly objects: readonly string[];
  /** Identifies version, sources and flags of the objects. */
  readonly id: string;
}

const out = join(import.meta.dir, ".build/media");
// Sections let the linker leave out the speech models that nothing here calls. -w: mtmd's warnings are upstream's.
const MTMD_FLAGS = [...CXX_FLAGS, "-ffunction-sections", "-fdata-sections", "-w"];
/** Most of mtmd builds graphs, where more than -O1 only takes time to compile; these files work on pixels and samples. */
const HOT = /^tools\/mtmd\/mtmd-(image|audio|helper)\.cpp$|^vendor\//;
const INCLUDES = ["include", "ggml/include", "common", "tools/mtmd", "vendor", "vendor/hash"];
/** What mtmd's programs need beside it. */
export const MTMD_HELPERS = [
  ...["mtmd-helper", "mtmd-helper-gen"].map((name) => `tools/mtmd/${name}.cpp`),
  ...["hash.cpp", "xxhash/xxhash.c", "sha1/sha1.c", "sha256/sha256.c"].map((name) => `vendor/hash/${name}`),
];

/**
 * Builds the media library and puts it beside the llama shim, so that development runs find it there. Takes about a
 * minute the first time and seconds after a change of the shim. Returns its path; throws BuildError when a step fails.
 */
export async function buildMedia(flavour: Flavour): Promise<string> {
  const { sources, libraries } = await buildLlama(flavour);
  return shimLibrary({
    name: "media",
    flavour,
    libraries,
    content: [versions, readFileSync(import.meta.path, "utf8"), mtmdSources(sources)],
    includes: INCLUDES.map((include) => join(sources, include)),
    parts: async () => (await compileMtmd(sources, flavour)).objects,
  });
}

/** Compiles mtmd without its programs. Keeps what was compiled before, even by an interrupted build. */
export async function compileMtmd(sources: string, flavour: Flavour): Promise<MtmdObjects> {
  const { units, models } = mtmdSources(sources);
  const flags = flavourFlags(flavour);
  const id = fingerprint([compilerVersion(), versions, units, models, MTMD_FLAGS, String(HOT), ...flags]);
  const folder = join(out, `mtmd-${id}`);
  mkdirSync(folder, { recursive: true });
  // The largest unit goes first, so that no core is left alone with it at the end.
  const joined = await joinSources(
    models.map((model) => join(sources, model)),
    join(folder, "models"),
  );
  const objectOf = (unit: string) => join(folder, `${unit.replaceAll("/", "_")}.o`);
  const all = [joined, ...units];
  const missing = all.filter((unit) => !existsSync(objectOf(unit)));
  if (missing.length > 0) {
    requireTools([compiler]);
    await step("compiled mtmd, for images and audio", () =>
      inParallel(missing, (unit) => compileUnit(sources, unit, objectOf(unit), flags)),
    );
  }
  return { objects: all.map(objectOf), id };
}

/** Compiles a file, by its path in llama.cpp or an absolute one, the way all of mtmd is compiled. */
export function compileUnit(sources: string, unit: string, object: string, more: readonly string[]): Promise<void> {
  // Upstream compiles these as C or C++, depending on the names that hash.cpp expects.
  const language = /(xxhash|sha256)\.c$/.test(unit) ? "c" : "c++";
  const includes = INCLUDES.map((folder) => `-I${join(sources, folder)}`);
  const flags = [...MTMD_FLAGS, HOT.test(unit) ? "-O3" : "-O1", ...more, ...includes];
  return compileObject(resolve(sources, unit), object, flags, language);
}

/**
 * Returns mtmd's sources without its programs and their helpers, which decode sound and images again. `models`: the
 * graphs of models.
 */
function mtmdSources(sources: string): { readonly units: readonly string[]; readonly models: readonly string[] } {
  const cpp = (folder: string) => filesIn(join(sources, folder), /\.cpp$/).map((path) => relative(sources, path));
  const isLeftOut = (unit: string) => /\/(mtmd-cli|mtmd-helper|mtmd-helper-gen|deprecation-warning)\.cpp$/.test(unit);
  return { units: cpp("tools/mtmd").filter((unit) => !isLeftOut(unit)), models: cpp("tools/mtmd/models") };
}
