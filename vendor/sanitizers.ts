// The flavour `sanitize`, for `npm run test:sanitize`: every native library checks its own memory accesses.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { BuildError, run } from "./run.ts";
import { compiler } from "./target.ts";

/** Flags for our own code: the first finding ends the process; invalid iterators and indices count as findings too. */
const SANITIZED = [
  "-fsanitize=address,undefined",
  // The types of llama.cpp's objects are hidden in its own libraries.
  "-fno-sanitize=vptr",
  "-fno-sanitize-recover=undefined",
  "-fno-omit-frame-pointer",
  "-D_GLIBCXX_ASSERTIONS",
  "-O1",
  "-g1",
];

/** Returns the compiler and linker flags that a flavour adds for our libraries. */
export const flavourFlags = (flavour: string): readonly string[] => (flavour === "sanitize" ? SANITIZED : []);

/** One CPU variant is enough, and undefined behaviour in llama.cpp is not ours to fix. */
const LLAMA_OPTIONS = {
  CMAKE_BUILD_TYPE: "None",
  CMAKE_C_FLAGS: "-O1 -g1 -DNDEBUG",
  CMAKE_CXX_FLAGS: "-O1 -g1 -DNDEBUG -D_GLIBCXX_ASSERTIONS",
  // Each library is then a single file, as in the published set.
  CMAKE_PLATFORM_NO_VERSIONED_SONAME: "ON",
  GGML_CPU_ALL_VARIANTS: "OFF",
  LLAMA_SANITIZE_ADDRESS: "ON",
};

/** Returns the options that a flavour adds to the build of llama.cpp. */
export const llamaOptions = (flavour: string): Readonly<Record<string, string>> =>
  flavour === "sanitize" ? LLAMA_OPTIONS : {};

/**
 * Returns libraries that a process must load before any other, so that it can open those of this flavour; makes one of
 * them in `folder`. Throws BuildError where there are none.
 */
export async function sanitizerRuntimes(folder: string): Promise<string[]> {
  if (process.platform !== "linux") throw new BuildError("The sanitizers are for Linux only.");
  const names = ["libasan.so", "libstdc++.so.6"];
  const paths = await Promise.all(
    names.map(async (name) => (await run([compiler, `-print-file-name=${name}`])).trim()),
  );
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) throw new BuildError(`\`${missing}\` is needed. Install the one of your ${compiler}.`);
  const signalStack = join(folder, "signal-stack.so");
  await run([compiler, "-shared", "-fPIC", "-O1", join(import.meta.dir, "signal-stack.cpp"), "-o", signalStack]);
  return [...paths, signalStack];
}
