// Builds llama.cpp's own `llama-mtmd-cli` from the objects and libraries that the media library is made of, so that a
// comparison shows what our shim does and nothing else.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { compileMtmd, compileUnit, place } from "./media.ts";
import { makeFolder, run, step } from "./run.ts";
import { compiler, linkedLibraries, origin } from "./shim.ts";

const out = join(import.meta.dir, ".build/media");
const UNIT = "tools/mtmd/mtmd-cli.cpp";

/** Builds the program, or returns at once when it was built before. Returns its path; throws BuildError. */
export async function buildMtmdCli(flavour: Flavour): Promise<string> {
  const { sources, libraries } = await buildLlama(flavour);
  const mtmd = await compileMtmd(sources, flavour);
  const target = join(out, `cli-${flavour}-${mtmd.id}`);
  const name = "llama-mtmd-cli";
  if (!existsSync(target)) {
    await step(`compiled ${name}`, () =>
      makeFolder(target, async (folder) => {
        const object = join(folder, "mtmd-cli.o");
        await compileUnit(sources, UNIT, object, []);
        // Beside the program, where it searches for compute backends.
        const set = readdirSync(libraries).filter((library) => /^lib(llama|ggml).*\.(so|dylib)$/.test(library));
        for (const library of set) place(join(libraries, library), join(folder, library));
        const rpath = `-Wl,-rpath,${origin}`;
        const objects = [object, ...mtmd.objects];
        await run([compiler, ...objects, ...linkedLibraries(folder), rpath, "-pthread", "-o", join(folder, name)]);
      }),
    );
  }
  return join(target, name);
}
