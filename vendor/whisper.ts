// Builds the whisper library: whisper.cpp and our shim over it, linked against the same ggml as the llama libraries.

import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { fetchPackage } from "./fetch.ts";
import { buildLlama, type Flavour } from "./llama.ts";
import { place } from "./media.ts";
import { makeFolder, step } from "./run.ts";
import { flavourFlags } from "./sanitizers.ts";
import { compileShim, libraryName, linkedLibraries, shimFingerprint } from "./shim.ts";
import versions from "./versions.json" with { type: "json" };

const out = join(import.meta.dir, ".build");
/** Folders of whisper.cpp; ggml and JSON come from llama.cpp, as the libraries do. */
const INCLUDES = ["src", "include"];
const LLAMA_INCLUDES = ["ggml/include", "common", "include"];
/** whisper.cpp needs a value that its own build would determine. */
const DEFINES = [`-DWHISPER_VERSION="${versions["whisper.cpp"]}"`];

/**
 * Builds the whisper library and puts it beside the llama shim, so that development runs find it there. Takes half a minute
 * the first time and after a change of the shim. Returns its path; throws BuildError when a step fails.
 */
export async function buildWhisper(flavour: Flavour): Promise<string> {
  const [llama, whisper] = await Promise.all([buildLlama(flavour), whisperSources()]);
  const name = libraryName("whisper");
  const parts = linkedLibraries(llama.libraries);
  const flags = [...DEFINES, ...flavourFlags(flavour)];
  const sizes = parts.map((path) => [basename(path), statSync(path).size]);
  const self = readFileSync(import.meta.path, "utf8");
  const content = JSON.stringify([versions, self, shimFingerprint("whisper"), flags, sizes]);
  const id = new Bun.CryptoHasher("sha256").update(content).digest("hex").slice(0, 12);
  const target = join(out, "whisper", `${flavour}-${id}`);
  if (!existsSync(target)) {
    const includes = [
      ...INCLUDES.map((folder) => join(whisper, folder)),
      ...LLAMA_INCLUDES.map((folder) => join(llama.sources, folder)),
    ];
    await step("compiled the whisper shim", () =>
      makeFolder(target, (temporary) => compileShim({ name: "whisper", includes, parts, flags }, temporary)),
    );
  }
  place(join(target, name), join(llama.libraries, name));
  return join(llama.libraries, name);
}

/** Returns the sources of the pinned version, fetching them if needed. */
export async function whisperSources(): Promise<string> {
  const { folder, ...pin } = versions.whisper;
  return join(await fetchPackage(pin, join(out, "packages")), folder);
}
