// Kokoro's voices, by the names of their files: `bf_emma` is British and female.

import type { Voice } from "../../domain/speech.ts";

/** The program of the host that reads out languages which src/speech does not know. */
export const READER = "espeak-ng";

interface Language {
  readonly locale: string;
  /** As the reader calls it; absent: src/speech reads it. */
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
/** Those that were trained with hours of good recordings, as the model's authors say. */
const BEST: ReadonlySet<string> = new Set(["af_heart", "af_bella", "af_nicole", "bf_emma", "ff_siwis"]);
const FILE = /^([a-z])([fm])_([a-z]+)\.bin$/;

/** The voices of these files, the best first; others, and languages that nobody here can read out, are left out. */
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

/** The language of a voice, by its id. */
export const languageOf = (voice: string): Language | undefined => {
  const letter = voice.charAt(0);
  return Object.hasOwn(LANGUAGES, letter) ? LANGUAGES[letter] : undefined;
};
