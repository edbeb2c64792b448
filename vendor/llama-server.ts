// Builds `llama-server`, `llama-batched-bench` and `llama-bench`, the yardsticks of `npm run bench`, from the pinned
// llama.cpp sources and against the very libraries that svc ships, so that a comparison differs only in the server.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { compileMtmd, compileUnit, MTMD_HELPERS } from "./media.ts";
import { fingerprint, inParallel, makeCurrent, makeFolder, run, step } from "./run.ts";
import { linkedLibraries, placeLibraries, sizesOf } from "./shim.ts";
import { compiler, origin } from "./target.ts";

const out = join(import.meta.dir, ".build");
const SERVER = "tools/server";
/** Folders with the sources of each program. */
const PROGRAMS = {
  "llama-server": SERVER,
  "llama-batched-bench": "tools/batched-bench",
  "llama-bench": "tools/llama-bench",
};
/** As in a release build. */
const FLAGS = ["-O3", "-DLLAMA_SUBPROCESS"];

/** No web page is served: the generated asset table is empty, as in a CMake build with the interface switched off. */
const UI_HEADER = `#pragma once
#include <array>
#include <string>
struct llama_ui_asset { std::string name; const unsigned char * data; std::size_t size; std::string etag; std::string type; };
inline const llama_ui_asset * llama_ui_find_asset(const std::string &) { return nullptr; }
inline bool llama_ui_use_gzip() { return false; }
inline const std::array<llama_ui_asset, 0> & llama_ui_get_assets() { static const std::array<llama_ui_asset, 0> none{}; return none; }
`;

/**
 * Builds the programs, or returns at once when they were built before. Takes one to six minutes on two cores. Returns
 * their folder, to which `llama-server` in the build folder then points. Throws BuildError.
 */
export async function buildLlamaServer(flavour: Flavour): Promise<string> {
  const { sources, libraries } = await buildLlama(flavour);
  const mtmd = await compileMtmd(sources, flavour);
  const self = readFileSync(import.meta.path, "utf8");
  const target = join(out, `llama-server-${fingerprint([mtmd.id, self, sizesOf(linkedLibraries(libraries))])}`);
  if (!existsSync(target)) {
    await step("compiled llama-server, for benchmarks", () =>
      makeFolder(target, async (folder) => {
        writeFileSync(join(folder, "ui.h"), UI_HEADER);
        const includes = [folder, join(sources, SERVER), sources].map((path) => `-I${path}`);
        const objectOf = (unit: string) => join(folder, `${unit.replaceAll("/", "_")}.o`);
        const own = Object.values(PROGRAMS).flatMap((program) => unitsOf(sources, program));
        const units = [...own, ...MTMD_HELPERS];
        await inParallel(units, (unit) => compileUnit(sources, unit, objectOf(unit), [...FLAGS, ...includes]));
        placeLibraries(libraries, folder);
        for (const [name, program] of Object.entries(PROGRAMS)) {
          const media = program === SERVER ? [...MTMD_HELPERS.map(objectOf), ...mtmd.objects] : [];
          const objects = [...unitsOf(sources, program).map(objectOf), ...media];
          const links = [...linkedLibraries(folder), `-Wl,-rpath,${origin}`, "-pthread"];
          await run([compiler, ...objects, ...links, "-o", join(folder, name)]);
        }
        for (const unit of units) rmSync(objectOf(unit));
      }),
    );
  }
  makeCurrent(out, basename(target), "llama-server");
  return target;
}

const unitsOf = (sources: string, folder: string): string[] =>
  readdirSync(join(sources, folder))
    .filter((name) => name.endsWith(".cpp"))
    .sort()
    .map((name) => `${folder}/${name}`);
