// Builds the audio library: our shim over miniaudio, which comes with llama.cpp's sources.

import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { fingerprint, place } from "./media.ts";
import { makeFolder, step } from "./run.ts";
import { flavourFlags } from "./sanitizers.ts";
import { compileShim, libraryName, linkedLibraries, shimFingerprint } from "./shim.ts";
import versions from "./versions.json" with { type: "json" };

const out = join(import.meta.dir, ".build/audio");
const INCLUDES = ["include", "ggml/include", "vendor"];

/**
 * Builds the audio library, in some seconds, and puts it beside the llama shim, so that development runs find it there.
 * Returns its path; throws BuildError when a step fails.
 */
export async function buildAudio(flavour: Flavour): Promise<string> {
  const { sources, libraries } = await buildLlama(flavour);
  const name = libraryName("audio");
  const linked = linkedLibraries(libraries);
  const sizes = linked.map((path) => [basename(path), statSync(path).size]);
  const self = readFileSync(import.meta.path, "utf8");
  const id = fingerprint([versions, self, shimFingerprint("audio"), flavourFlags(flavour), sizes]);
  const target = join(out, `${flavour}-${id}`);
  if (!existsSync(target)) {
    await step("compiled the audio shim", () =>
      makeFolder(target, (temporary) => {
        const includes = INCLUDES.map((include) => join(sources, include));
        return compileShim({ name: "audio", includes, parts: linked, flags: flavourFlags(flavour) }, temporary);
      }),
    );
  }
  place(join(target, name), join(libraries, name));
  return join(libraries, name);
}
