// Builds whisper.cpp's own `whisper-cli` and `whisper-server` from the pinned sources and against the very libraries
// that svc ships, so that a comparison shows only what our shim does.

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildLlama, type Flavour } from "./llama.ts";
import { fingerprint, inParallel, makeFolder, run, step } from "./run.ts";
import { compileObject, linkedLibraries, placeLibraries } from "./shim.ts";
import { compiler, CXX_FLAGS, origin } from "./target.ts";
import versions from "./versions.json" with { type: "json" };
import { whisperSources } from "./whisper.ts";

export interface WhisperTools {
  readonly cli: string;
  readonly server: string;
}

const SHARED = ["src/whisper.cpp", "examples/common.cpp", "examples/common-whisper.cpp", "examples/grammar-parser.cpp"];
const PROGRAMS = { "whisper-cli": "examples/cli/cli.cpp", "whisper-server": "examples/server/server.cpp" };
const INCLUDES = ["include", "src", "examples"];
// As in whisper.cpp's own release build. -w: the warnings are upstream's.
const FLAGS = [...CXX_FLAGS, "-O3", "-w", `-DWHISPER_VERSION="${versions["whisper.cpp"]}"`];

/** Builds the programs in about a minute, or returns at once when they were built before. Throws BuildError. */
export async function buildWhisperTools(flavour: Flavour): Promise<WhisperTools> {
  const [{ sources: llama, libraries }, sources] = await Promise.all([buildLlama(flavour), whisperSources()]);
  const id = fingerprint([versions, SHARED, PROGRAMS, FLAGS]);
  const target = join(import.meta.dir, ".build", `whisper-tools-${flavour}-${id}`);
  const includes = [...INCLUDES.map((path) => join(sources, path)), join(llama, "ggml/include")];
  if (!existsSync(target)) {
    await step("compiled whisper-cli and whisper-server", () =>
      makeFolder(target, async (folder) => {
        const objectOf = (unit: string) => join(folder, `${unit.replaceAll("/", "_")}.o`);
        const units = [...SHARED, ...Object.values(PROGRAMS)];
        const flags = [...FLAGS, ...includes.map((path) => `-I${path}`)];
        await inParallel(units, (unit) => compileObject(join(sources, unit), objectOf(unit), flags));
        placeLibraries(libraries, folder);
        for (const [name, unit] of Object.entries(PROGRAMS)) {
          const objects = [...SHARED, unit].map(objectOf);
          const links = [...linkedLibraries(folder), `-Wl,-rpath,${origin}`, "-pthread"];
          await run([compiler, ...objects, ...links, "-o", join(folder, name)]);
        }
        for (const unit of units) rmSync(objectOf(unit));
      }),
    );
  }
  return { cli: join(target, "whisper-cli"), server: join(target, "whisper-server") };
}
