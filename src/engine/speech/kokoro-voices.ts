// Describes Kokoro's voices by their file names: `bf_emma` is British and female.

import type { Voice } from "../../domain/speech.ts";
import { own } from "../../domain/own.ts";

/** The host's program that phonemizes languages which src/speech does not support. */
export const READER = "espeak-ng";

interface Language {
  readonly locale: string;
  /** The reader's name of the language; absent when src/speech reads it. */
  readonly reader?: string;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  a: { locale: "en-US" },
  b: { locale: "en-GB", reader: "en-gb" },
  e: { locale: "es-ES", reader: "es" },
  f: { locale: "fr-FR", reader: "fr-fr" },
  h: { locale: "hi-IN", reader: "hi" },
  i: { locale: "it-IT", reader: "it" },
  p: { locale: "pt-BR", reader: "pt-br" },
};
/** Voices that were trained with hours of good recordings, according to the model's authors. */
const BEST: ReadonlySet<string> = new Set(["af_heart", "af_bella", "af_nicole", "bf_emma", "ff_siwis"]);
const FILE = /^([a-z])([fm])_([a-z]+)\.bin$/;

/**
 * Returns the voices of these files, best first; skips other files and unknown languages. `hasReader`: whether READER
 * is there, without which some voices cannot speak (`needs`).
 */
export function kokoroVoices(files: readonly string[], hasReader: boolean): Voice[] {
  const voices = files.toSorted().flatMap((file): Voice[] => {
    const [, letter = "", gender, name = ""] = FILE.exec(file) ?? [];
    const language = languageOf(letter);
    if (!language) return [];
    const id = file.slice(0, -".bin".length);
    return [
      {
        id,
        name: name.charAt(0).toUpperCase() + name.slice(1),
        locale: language.locale,
        gender: gender === "f" ? "female" : "male",
        quality: BEST.has(id) ? "premium" : "enhanced",
        isSlow: true,
        ...(language.reader !== undefined && !hasReader && { needs: READER }),
      },
    ];
  });
  return voices.toSorted((a, b) => Number(BEST.has(b.id)) - Number(BEST.has(a.id)));
}

/** Returns the language of a voice, by its id; undefined if it is unknown. */
export const languageOf = (voice: string): Language | undefined => own(LANGUAGES, voice.charAt(0));
