// Builds other projects' own programs to compare with, from the pinned sources and against the very libraries that svc
// ships, so that a comparison shows only what svc does differently.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { filesIn, fingerprint, inParallel, makeFolder, place, run, step } from "./run.ts";
import { linkedLibraries, sizesOf } from "./shim.ts";
import { compiler, compilerVersion, origin } from "./target.ts";

export interface Programs {
  /** Name of their folder in the build folder. */
  readonly name: string;
  /** The sources of each program; objects (`.o`) are linked as they are. */
  readonly programs: Readonly<Record<string, readonly string[]>>;
  /** The llama library set. */
  readonly libraries: string;
  /** What they depend on beside compiler and libraries, as JSON values. */
  readonly content: unknown;
  readonly compile: (source: string, object: string) => Promise<void>;
}

/** Builds programs, or returns at once when they were built before. Returns their folder; throws BuildError. */
export async function makePrograms({ name, programs, libraries, content, compile }: Programs): Promise<string> {
  // llama.cpp searches for compute backends beside the program.
  const placed = filesIn(libraries, /^lib(llama|ggml).*\.(so|dylib)$/);
  const id = fingerprint([compilerVersion(), content, sizesOf(placed), readFileSync(import.meta.path, "utf8")]);
  const target = join(import.meta.dir, ".build", `${name}-${id}`);
  if (existsSync(target)) return target;
  await step(`compiled ${Object.keys(programs).join(", ")}`, () =>
    makeFolder(target, async (folder) => {
      const objectOf = (unit: string) => (unit.endsWith(".o") ? unit : join(folder, `${unit.replaceAll("/", "_")}.o`));
      const sources = [...new Set(Object.values(programs).flat())].filter((unit) => !unit.endsWith(".o"));
      await inParallel(sources, (source) => compile(source, objectOf(source)));
      for (const path of placed) place(path, join(folder, basename(path)));
      const links = [...linkedLibraries(folder), `-Wl,-rpath,${origin}`, "-pthread"];
      for (const [program, units] of Object.entries(programs))
        await run([compiler, ...units.map(objectOf), ...links, "-o", join(folder, program)]);
      for (const source of sources) rmSync(objectOf(source));
    }),
  );
  return target;
}
