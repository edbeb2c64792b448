// eSpeak NG: small and fast, with more than a hundred languages; it sounds robotic. Runs on Linux, macOS and Windows.

import { readWav } from "../../../audio/decode/wav.ts";
import type { Voice } from "../../../domain/speech.ts";
import { programOutput } from "../../process/program.ts";
import { languageTag, LIST_LIMITS, SOUND_LIMITS, type ProgramKind } from "./host-program.ts";

/** Its default speed. */
const WORDS_A_MINUTE = 175;

export const espeak: ProgramKind = {
  file: "espeak-ng",
  // It accepts 80 to 450 words per minute.
  slowest: 0.5,
  fastest: 2.5,

  async voices({ name, path, env }) {
    const list = await programOutput([path, "--voices"], { ...LIST_LIMITS, env });
    return espeakVoices(new TextDecoder().decode(list), name);
  },

  async say({ path, env }, { voice, text, speed }, signal) {
    const command = [path, "-v", voice, "-s", String(Math.round(WORDS_A_MINUTE * speed)), "-b", "1"];
    return readWav(
      await programOutput([...command, "--stdin", "--stdout"], { ...SOUND_LIMITS, env, input: text }, signal),
    );
  },
};

/** ` 5  en-gb  --/M  English_(Great_Britain)  gmw/en  (en 2)`: priority, language, age and gender, name, file, other languages. */
const ROW = /^\s*(\d+)\s+(\S+)\s+\S*?\/?([MF-])\s+(\S+)\s+(\S+)/;

/** Parses a listing of voices; sorted by priority. */
export function espeakVoices(listing: string, program: string): Voice[] {
  const rows = listing.split("\n").flatMap((line) => {
    const [, priority, language = "", gender = "", name = "", file = ""] = ROW.exec(line) ?? [];
    // Skips voices of another program, which may be missing, and those that eSpeak does not find by their language.
    return priority === undefined || file.startsWith("mb/") || /[A-Z]/.test(language)
      ? []
      : [{ priority: Number(priority), language, gender, name: name.replaceAll("_", " ").trim() }];
  });
  const isFirst = ({ language }: (typeof rows)[number], at: number) =>
    rows.findIndex((other) => other.language === language) === at;
  return rows
    .filter(isFirst)
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ language, gender, name }) => ({
      id: `${program}:${language}`,
      name,
      locale: languageTag(language),
      gender: gender === "M" ? "male" : gender === "F" ? "female" : "unspecified",
      quality: "compact",
    }));
}
