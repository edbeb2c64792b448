// The files of a voice that turn text into phonemes, as vendor/hibari.ts makes them.

import type { SpeechData, Tables } from "./tables.ts";

/** `read` gives the bytes of a file by its name, and throws when it is not there. */
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
