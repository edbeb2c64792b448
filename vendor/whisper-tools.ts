// Builds whisper.cpp's own `whisper-cli` and `whisper-server`.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { makePrograms } from "./programs.ts";
import { compileObject } from "./shim.ts";
import { CXX_FLAGS } from "./target.ts";
import versions from "./versions.json" with { type: "json" };
import { whisperSources } from "./whisper.ts";

export interface WhisperTools {
  readonly cli: string;
  readonly server: string;
}

const SHARED = ["src/whisper.cpp", "examples/common.cpp", "examples/common-whisper.cpp", "examples/grammar-parser.cpp"];
const INCLUDES = ["include", "src", "examples"];
// As in whisper.cpp's own release build. -w: the warnings are upstream's.
const FLAGS = [...CXX_FLAGS, "-O3", "-w", `-DWHISPER_VERSION="${versions["whisper.cpp"]}"`];

/** Builds the programs in about a minute; see makePrograms. */
export async function buildWhisperTools(flavour: Flavour): Promise<WhisperTools> {
  const [{ sources: llama, libraries }, sources] = await Promise.all([buildLlama(flavour), whisperSources()]);
  const includes = [...INCLUDES.map((path) => join(sources, path)), join(llama, "ggml/include")];
  const flags = [...FLAGS, ...includes.map((path) => `-I${path}`)];
  const folder = await makePrograms({
    name: "whisper-tools",
    programs: {
      "whisper-cli": [...SHARED, "examples/cli/cli.cpp"],
      "whisper-server": [...SHARED, "examples/server/server.cpp"],
    },
    libraries,
    content: [versions, readFileSync(import.meta.path, "utf8")],
    compile: (unit, object) => compileObject(join(sources, unit), object, flags),
  });
  return { cli: join(folder, "whisper-cli"), server: join(folder, "whisper-server") };
}
