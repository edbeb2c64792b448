// The phonemizer with the voice data created by the build.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadPhonemizer } from "../../src/engine/speech/child/load-phonemizer.ts";
import type { Phonemizer } from "../../src/speech/phonemizer.ts";

const folder = join(import.meta.dir, "../../vendor/.build/speech/current");

/** Returns undefined when the build left the voice out. */
export const builtPhonemizer = async (): Promise<Phonemizer | undefined> =>
  existsSync(folder) ? loadPhonemizer(folder) : undefined;
