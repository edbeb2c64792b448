// `say` of macOS: the voices of the system, including those that were downloaded in its settings.

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readWav } from "../../../audio/decode/wav.ts";
import type { Voice } from "../../../domain/speech.ts";
import { programOutput, ProgramError } from "../../process/program.ts";
import { languageTag, LIST_LIMITS, SOUND_LIMITS, type ProgramKind } from "./host-program.ts";

export const macosSay: ProgramKind = {
  file: "say",
  platform: "darwin",
  slowest: 1,
  fastest: 1,

  async voices({ name, path, env }) {
    const list = await programOutput([path, "-v", "?"], { ...LIST_LIMITS, env });
    return sayVoices(new TextDecoder().decode(list), name);
  },

  // `say` can only write to files.
  async say({ path, env }, { voice, text }, signal) {
    // After a kill, `removeAbandoned` finds it by this name.
    const folder = mkdtempSync(join(tmpdir(), `svc-say-${process.pid}-`));
    try {
      const file = join(folder, "sound.wav");
      const format = ["--file-format=WAVE", "--data-format=LEI16@24000"];
      const command = [path, "-v", voice, "-f", "-", "-o", file, ...format];
      await programOutput(command, { ...SOUND_LIMITS, env, input: text }, signal);
      const size = statSync(file, { throwIfNoEntry: false })?.size;
      if (size === undefined) throw new ProgramError("say wrote no file");
      if (size > SOUND_LIMITS.mostBytes) throw new ProgramError(`say wrote ${size} bytes`);
      return readWav(readFileSync(file));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Example: `Eddy (German (Germany)) de_DE    # Hallo! Ich heiße Eddy.` */
const ROW = /^(\S.*?)\s+([a-z]{2,3}(?:[_-][A-Za-z0-9]+)*)\s+#/;

/** Parses a listing of voices, which does not state genders. */
export function sayVoices(listing: string, program: string): Voice[] {
  return listing.split("\n").flatMap((line) => {
    const [, name, locale = ""] = ROW.exec(line) ?? [];
    if (name === undefined) return [];
    const [, quality = "compact"] = /\((Enhanced|Premium)\)$/.exec(name) ?? [];
    return [
      {
        id: `${program}:${name}`,
        name,
        locale: languageTag(locale),
        gender: "unspecified",
        quality: quality.toLowerCase() as Voice["quality"],
      },
    ];
  });
}
