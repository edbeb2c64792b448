// Builds llama.cpp's own `llama-mtmd-cli` from the objects and libraries of the media library, so that a comparison
// shows only what our shim does.

import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { compileMtmd, compileUnit, place } from "./media.ts";
import { inParallel, makeFolder, run, step } from "./run.ts";
import { linkedLibraries } from "./shim.ts";
import { compiler, origin } from "./target.ts";

const out = join(import.meta.dir, ".build/media");
const UNITS = [
  ...["mtmd-cli", "mtmd-helper", "mtmd-helper-gen"].map((name) => `tools/mtmd/${name}.cpp`),
  ...["hash.cpp", "xxhash/xxhash.c", "sha1/sha1.c", "sha256/sha256.c"].map((name) => `vendor/hash/${name}`),
];

/** Builds the program, or returns at once when it was built before. Returns its path; throws BuildError. */
export async function buildMtmdCli(flavour: Flavour): Promise<string> {
  const { sources, libraries } = await buildLlama(flavour);
  const mtmd = await compileMtmd(sources, flavour);
  const target = join(out, `cli-${flavour}-${mtmd.id}`);
  const name = "llama-mtmd-cli";
  if (!existsSync(target)) {
    await step(`compiled ${name}`, () =>
      makeFolder(target, async (folder) => {
        const objectOf = (unit: string) => join(folder, `${basename(unit)}.o`);
        await inParallel(UNITS, (unit) => compileUnit(sources, unit, objectOf(unit), []));
        // Placed beside the program, where it searches for compute backends.
        const set = readdirSync(libraries).filter((library) => /^lib(llama|ggml).*\.(so|dylib)$/.test(library));
        for (const library of set) place(join(libraries, library), join(folder, library));
        const rpath = `-Wl,-rpath,${origin}`;
        const objects = [...UNITS.map(objectOf), ...mtmd.objects];
        await run([compiler, ...objects, ...linkedLibraries(folder), rpath, "-pthread", "-o", join(folder, name)]);
      }),
    );
  }
  return join(target, name);
}
