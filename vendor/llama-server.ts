// Builds llama.cpp's own `llama-server`, `llama-batched-bench` and `llama-bench`, the yardsticks of `npm run bench`.

import { readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { compileMtmd, compileUnit, MTMD_HELPERS } from "./media.ts";
import { makePrograms } from "./programs.ts";
import { filesIn, makeCurrent } from "./run.ts";

const out = join(import.meta.dir, ".build");
const SERVER = "tools/server";
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
 * Builds the programs in one to six minutes on two cores; see makePrograms. Returns their folder, to which `llama-server`
 * in the build folder then points.
 */
export async function buildLlamaServer(flavour: Flavour): Promise<string> {
  const { sources, libraries } = await buildLlama(flavour);
  const mtmd = await compileMtmd(sources, flavour);
  const ui = join(out, "llama-server-ui");
  await Bun.write(join(ui, "ui.h"), UI_HEADER);
  const flags = [...FLAGS, ...[ui, join(sources, SERVER), sources].map((path) => `-I${path}`)];
  const unitsOf = (folder: string) => filesIn(join(sources, folder), /\.cpp$/).map((path) => relative(sources, path));
  const target = await makePrograms({
    name: "llama-server",
    programs: {
      "llama-server": [...unitsOf(SERVER), ...MTMD_HELPERS, ...mtmd.objects],
      "llama-batched-bench": unitsOf("tools/batched-bench"),
      "llama-bench": unitsOf("tools/llama-bench"),
    },
    libraries,
    content: [mtmd.id, readFileSync(import.meta.path, "utf8")],
    compile: (unit, object) => compileUnit(sources, unit, object, flags),
  });
  makeCurrent(out, basename(target), "llama-server");
  return target;
}
