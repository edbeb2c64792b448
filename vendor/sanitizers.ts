// The flavour `sanitize`: every native library watches its own memory. For `npm run test:sanitize`.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { BuildError, run } from "./run.ts";
import { compiler } from "./target.ts";

/** Of our own code: the first finding ends the process, and what an iterator or an index may not do is one, too. */
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

/** What a flavour adds to the flags of our libraries, for compiler and linker. */
export const flavourFlags = (flavour: string): readonly string[] => (flavour === "sanitize" ? SANITIZED : []);

/** One CPU variant is enough, and what is undefined there is not ours to mend. */
const LLAMA_OPTIONS = {
  CMAKE_BUILD_TYPE: "None",
  CMAKE_C_FLAGS: "-O1 -g1 -DNDEBUG",
  CMAKE_CXX_FLAGS: "-O1 -g1 -DNDEBUG -D_GLIBCXX_ASSERTIONS",
  // Each library has one file then, as in the published set.
  CMAKE_PLATFORM_NO_VERSIONED_SONAME: "ON",
  GGML_CPU_ALL_VARIANTS: "OFF",
  LLAMA_SANITIZE_ADDRESS: "ON",
};

/** What it adds to the build of llama.cpp. */
export const llamaOptions = (flavour: string): Readonly<Record<string, string>> =>
  flavour === "sanitize" ? LLAMA_OPTIONS : {};

/**
 * Libraries that must be loaded into a process before any other, so that it can open those of this flavour; one of them is
 * made in `folder`. Throws BuildError where there are none.
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
