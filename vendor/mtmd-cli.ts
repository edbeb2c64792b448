// Builds llama.cpp's own `llama-mtmd-cli` from the objects of the media library.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { compileMtmd, compileUnit, MTMD_HELPERS } from "./media.ts";
import { makePrograms } from "./programs.ts";

/** Returns the program's path; see makePrograms. */
export async function buildMtmdCli(flavour: Flavour): Promise<string> {
  const { sources, libraries } = await buildLlama(flavour);
  const { objects, id } = await compileMtmd(sources, flavour);
  const name = "llama-mtmd-cli";
  const folder = await makePrograms({
    name,
    programs: { [name]: ["tools/mtmd/mtmd-cli.cpp", ...MTMD_HELPERS, ...objects] },
    libraries,
    content: [id, readFileSync(import.meta.path, "utf8")],
    compile: (unit, object) => compileUnit(sources, unit, object, []),
  });
  return join(folder, name);
}
