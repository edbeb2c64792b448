// The programs of the host whose voices can be used.

import { espeak } from "./espeak.ts";
import type { ProgramKind } from "./host-program.ts";
import { macosSay } from "./macos-say.ts";
import { piper } from "./piper.ts";
import { sapi } from "./sapi.ts";

/** By name, most natural first: when several speak a language, the first one is used. */
export const PROGRAMS: Readonly<Record<string, ProgramKind>> = {
  piper,
  say: macosSay,
  sapi,
  "espeak-ng": espeak,
};
