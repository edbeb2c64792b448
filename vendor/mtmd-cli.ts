// Builds llama.cpp's own `llama-mtmd-cli` from the objects and libraries of the media library, so that a comparison
// shows only what our shim does.

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { compileMtmd, compileUnit, MTMD_HELPERS } from "./media.ts";
import { inParallel, makeFolder, run, step } from "./run.ts";
import { linkedLibraries, placeLibraries } from "./shim.ts";
import { compiler, origin } from "./target.ts";

const out = join(import.meta.dir, ".build/media");
const UNITS = ["tools/mtmd/mtmd-cli.cpp", ...MTMD_HELPERS];

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
        placeLibraries(libraries, folder);
        const rpath = `-Wl,-rpath,${origin}`;
        const objects = [...UNITS.map(objectOf), ...mtmd.objects];
        await run([compiler, ...objects, ...linkedLibraries(folder), rpath, "-pthread", "-o", join(folder, name)]);
      }),
    );
  }
  return join(target, name);
}
