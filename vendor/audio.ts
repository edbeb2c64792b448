// Builds the audio library: our shim over miniaudio, which comes with llama.cpp's sources.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { shimLibrary } from "./shim.ts";
import versions from "./versions.json" with { type: "json" };

const INCLUDES = ["include", "ggml/include", "vendor"];

/** Builds the audio library, in some seconds; see shimLibrary. */
export async function buildAudio(flavour: Flavour): Promise<string> {
  const { sources, libraries } = await buildLlama(flavour);
  return shimLibrary({
    name: "audio",
    flavour,
    libraries,
    content: [versions, readFileSync(import.meta.path, "utf8")],
    includes: INCLUDES.map((include) => join(sources, include)),
  });
}
