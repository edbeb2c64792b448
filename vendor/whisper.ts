// Builds the whisper library: whisper.cpp and our shim over it, linked against the same ggml as the llama libraries.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fetchPackage } from "./fetch.ts";
import { buildLlama, type Flavour } from "./llama.ts";
import { shimLibrary } from "./shim.ts";
import versions from "./versions.json" with { type: "json" };

/** Folders of whisper.cpp; ggml and JSON come from llama.cpp, as the libraries do. */
const INCLUDES = ["src", "include"];
const LLAMA_INCLUDES = ["ggml/include", "common", "include"];
/** whisper.cpp needs a value that its own build would determine. */
const DEFINES = [`-DWHISPER_VERSION="${versions["whisper.cpp"]}"`];

/** Builds the whisper library, in half a minute the first time and after a change of the shim; see shimLibrary. */
export async function buildWhisper(flavour: Flavour): Promise<string> {
  const [llama, whisper] = await Promise.all([buildLlama(flavour), whisperSources()]);
  return shimLibrary({
    name: "whisper",
    flavour,
    libraries: llama.libraries,
    content: [versions, readFileSync(import.meta.path, "utf8")],
    includes: [
      ...INCLUDES.map((folder) => join(whisper, folder)),
      ...LLAMA_INCLUDES.map((folder) => join(llama.sources, folder)),
    ],
    flags: DEFINES,
  });
}

/** Returns the sources of the pinned version, fetching them if needed. */
export async function whisperSources(): Promise<string> {
  const { folder, ...pin } = versions.whisper;
  return join(await fetchPackage(pin, join(import.meta.dir, ".build/packages")), folder);
}
