// The files of a voice that convert text to phonemes, as vendor/hibari.ts creates them.

import type { SpeechData, Tables } from "./tables.ts";

/** `read` returns the bytes of a named file, and throws when it is missing. */
export function speechData(read: (name: string) => Uint8Array): SpeechData {
  return {
    tables: JSON.parse(new TextDecoder().decode(read("tables.json"))) as Tables,
    gold: read("gold.txt"),
    silver: read("silver.txt"),
    tagOfWord: read("tag-of-word.txt"),
    knownWords: read("known-words.txt"),
    tagWeights: read("tag-weights.txt"),
    unknownWords: read("unknown-words.f32"),
  };
}
