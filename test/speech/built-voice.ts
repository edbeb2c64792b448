// The phonemizer with the voice data created by the build.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Phonemizer } from "../../src/speech/phonemizer.ts";

const folder = join(import.meta.dir, "../../vendor/.build/speech/current");

/** Returns undefined when the build left the voice out. */
export function builtPhonemizer(): Phonemizer | undefined {
  if (!existsSync(folder)) return undefined;
  return new Phonemizer((name) => readFileSync(join(folder, name)));
}
