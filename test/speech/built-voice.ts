// The reader of the voice that the build has made.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Phonemizer } from "../../src/speech/phonemizer.ts";
import { speechData } from "../../src/speech/speech-data.ts";

const folder = join(import.meta.dir, "../../vendor/.build/speech/current");

/** Undefined when the build left the voice out. */
export function builtPhonemizer(): Phonemizer | undefined {
  if (!existsSync(folder)) return undefined;
  return new Phonemizer(speechData((name) => readFileSync(join(folder, name))));
}
