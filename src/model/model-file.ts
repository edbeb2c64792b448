// Reads what the server must know about a model file before it starts an engine for it.

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { whyNoEmbedding, whyUnserved } from "./architectures.ts";
import { ModelFileError, readGguf, type Gguf, type MetadataValue } from "./gguf.ts";

/** Limits the memory that a corrupt count can cost; llama.cpp's own limit is lower. */
const MOST_LAYERS = 10_000;
/** Larger than the vectors of any model. */
const MOST_EMBEDDING = 2 ** 20;

export interface ModelFile {
  /** The file to load; for a model in several files, the first. */
  readonly path: string;
  /** All files of the model, in order. */
  readonly paths: readonly string[];
  /** The file name without `.gguf` and part number: the name that clients see. */
  readonly id: string;
  readonly architecture: string;
  /** The name that the model's authors gave it, if any. */
  readonly name?: string;
  /** What the chat template appears to support; llama.cpp tries it once the model is loaded. */
  readonly template: { readonly tools: boolean; readonly thinking: boolean };
  /** Trained context length in tokens. */
  readonly trainedContext: number;
  /** Key-value heads per layer; 0 for a layer that stores no keys and values. */
  readonly kvHeads: readonly number[];
  /** Numbers that a head stores for one token. */
  readonly keyLength: number;
  readonly valueLength: number;
  /** How many tokens layers with a sliding window look back; 0: all layers look back to the beginning. */
  readonly slidingWindow: number;
  readonly embedding: number;
  /** Tokens in the vocabulary; 0 if the file does not contain it. */
  readonly vocabulary: number;
  /** Bytes of all files of the model. */
  readonly fileBytes: number;
  readonly tensorBytes: number;
  /** Modification time of the file, Unix seconds. */
  readonly modified: number;
  /** Whether it was made to turn texts into vectors or scores, even if it could also generate. */
  readonly isForVectors: boolean;
}

/** A model that turns texts into vectors, or (`ranks`) scores pairs of texts. */
export interface EmbeddingFile extends ModelFile {
  readonly ranks: boolean;
  /** Whether only the last token of an input counts, so that it can be computed in pieces. */
  readonly readsLast: boolean;
}

/** llama.cpp's numbers for the pooling types of the last token and of rerankers. */
const LAST_POOLING = 3;
const RANK_POOLING = 4;
/** Rerankers whose score is that of the last token. */
const RANK_BY_LAST: ReadonlySet<string> = new Set(["qwen3", "qwen3vl"]);

/**
 * Reads the header of the model at `path` and checks that it can be served: readable, GGUF 2 or 3, complete, with all
 * parts, a language model of a supported architecture. Takes milliseconds. Throws ModelFileError.
 */
export function readModelFile(path: string): ModelFile {
  return describeFile(path, readGguf(path), whyUnserved);
}

/**
 * Reads and checks a model that returns vectors or, with `ranks`, scores of a query and a document. Language models can
 * return vectors too. Throws ModelFileError.
 */
export function readEmbeddingFile(path: string, ranks: boolean): EmbeddingFile {
  const header = readGguf(path);
  const file = describeFile(path, header, whyNoEmbedding);
  const name = basename(path);
  if (ranks && !header.classifies)
    throw new ModelFileError(`${name} is not a reranker: it has no tensor that gives a score.`);
  const pooling = header.metadata.get(`${file.architecture}.pooling_type`);
  if (!ranks && pooling === RANK_POOLING) {
    throw new ModelFileError(`${name} is a reranker: it gives scores and no vectors.`);
  }
  const readsLast = ranks ? RANK_BY_LAST.has(file.architecture) : pooling === LAST_POOLING;
  return { ...file, ranks, readsLast };
}

/** Returns the default name of a model: its file name without `.gguf` and part number. */
export const modelId = (path: string): string =>
  basename(path)
    .replace(/\.gguf$/i, "")
    .replace(/-\d{5}-of-\d{5}$/, "");

function describeFile(path: string, header: Gguf, whyNot: (architecture: string) => string | undefined): ModelFile {
  const name = basename(path);
  const architecture = servedArchitecture(header, name, whyNot);
  const paths = [path, ...otherParts(path, header)];
  const parts = [header, ...paths.slice(1).map(readGguf)];
  const facts = new Facts(header.metadata, architecture, name);
  const layers = facts.count("block_count");
  if (layers > MOST_LAYERS) throw new ModelFileError(`${name} is corrupt: it claims to have ${layers} layers.`);
  const embedding = facts.count("embedding_length");
  if (embedding > MOST_EMBEDDING) {
    throw new ModelFileError(`${name} is corrupt: it claims to have vectors of ${embedding} numbers.`);
  }
  const heads = facts.perLayer("attention.head_count", layers, 0);
  const headLength = Math.floor(embedding / Math.max(1, ...heads));
  const pooling = Number(header.metadata.get(`${architecture}.pooling_type`) ?? 0);
  const title = header.metadata.get("general.name");
  const template = String(header.metadata.get("tokenizer.chat_template") ?? "");
  return {
    path,
    paths,
    id: modelId(path),
    architecture,
    ...(typeof title === "string" && title !== "" && { name: title }),
    template: { tools: /\btools\b/.test(template), thinking: template.includes("enable_thinking") },
    trainedContext: facts.count("context_length"),
    kvHeads: facts.perLayer("attention.head_count_kv", layers, Math.max(0, ...heads)),
    keyLength: facts.count("attention.key_length", headLength),
    valueLength: facts.count("attention.value_length", headLength),
    slidingWindow: facts.count("attention.sliding_window", 0),
    embedding,
    vocabulary: lengthOf(header.metadata.get("tokenizer.ggml.tokens")),
    fileBytes: parts.reduce((sum, part) => sum + part.fileBytes, 0),
    tensorBytes: parts.reduce((sum, part) => sum + part.tensorBytes, 0),
    modified: header.modified,
    isForVectors: header.classifies || pooling > 0 || whyUnserved(architecture) !== undefined,
  };
}

function servedArchitecture(
  { metadata, tensors }: Gguf,
  name: string,
  whyNot: (architecture: string) => string | undefined,
): string {
  const kind = metadata.get("general.type");
  if (kind === "adapter")
    throw new ModelFileError(`${name} is an adapter (LoRA), not a model; it needs its base model.`);
  if (kind === "imatrix") throw new ModelFileError(`${name} is an importance matrix for quantizing, not a model.`);
  if (kind === "vocab") throw new ModelFileError(`${name} has a vocabulary but no weights.`);
  // Parts after the first lack the model's metadata.
  if (Number(metadata.get("split.no") ?? 0) > 0) {
    throw new ModelFileError(`${name} is a later part of a model in several files; name the first part (-00001-of-…).`);
  }
  const architecture = metadata.get("general.architecture");
  if (typeof architecture !== "string") throw new ModelFileError(`${name} does not say which architecture it has.`);
  const reason = whyNot(architecture);
  if (reason) throw new ModelFileError(`${name} ${reason}.`);
  if (tensors === 0 && !metadata.has("split.count")) {
    throw new ModelFileError(`${name} has a vocabulary but no weights.`);
  }
  if (!metadata.has("tokenizer.ggml.model"))
    throw new ModelFileError(`${name} has no tokenizer, so it cannot read text.`);
  return architecture;
}

/** Returns the paths of the parts after the first. Throws ModelFileError if one is missing. */
function otherParts(path: string, { metadata }: Gguf): string[] {
  const count = Number(metadata.get("split.count") ?? 1);
  if (!(count > 1)) return [];
  const name = basename(path);
  const stem = /^(.*)-00001-of-(\d{5})\.gguf$/.exec(name);
  if (!stem || Number(stem[2]) !== count) {
    const expected = `<name>-00001-of-${pad(count)}.gguf`;
    throw new ModelFileError(`${name} is the first of ${count} files of a model and must be named ${expected}.`);
  }
  const names = Array.from({ length: count - 1 }, (_, i) => `${stem[1]}-${pad(i + 2)}-of-${pad(count)}.gguf`);
  const missing = names.filter((part) => !existsSync(join(dirname(path), part)));
  if (missing.length === 0) return names.map((part) => join(dirname(path), part));
  const rest = missing.length > 3 ? ` and ${missing.length - 3} more` : "";
  const message = `The model is in ${count} files, of which are missing beside ${name}: ${missing.slice(0, 3).join(", ")}`;
  throw new ModelFileError(`${message}${rest}.`);
}

const pad = (part: number): string => String(part).padStart(5, "0");

/** Metadata with the architecture's prefix. */
class Facts {
  constructor(
    private readonly metadata: Gguf["metadata"],
    private readonly architecture: string,
    private readonly name: string,
  ) {}

  /** Returns a positive integer, or with a `fallback` one from 0. Throws ModelFileError if it is missing or invalid. */
  count(key: string, fallback?: number): number {
    const value = this.get(key) ?? fallback;
    if (typeof value === "number" && value >= (fallback === undefined ? 1 : 0) && Number.isSafeInteger(value)) {
      return value;
    }
    throw new ModelFileError(`${this.name} is corrupt: it has no usable value ${this.architecture}.${key}.`);
  }

  /** Returns a number for each layer; the file may have one for all layers. Throws ModelFileError if invalid. */
  perLayer(key: string, layers: number, fallback: number): readonly number[] {
    const value = this.get(key) ?? fallback;
    const list = Array.isArray(value) ? value : Array.from({ length: layers }, () => value);
    if (list.every((item) => Number.isSafeInteger(item) && item >= 0)) return list;
    throw new ModelFileError(`${this.name} is corrupt: it has no usable value ${this.architecture}.${key}.`);
  }

  private get(key: string): MetadataValue | undefined {
    return this.metadata.get(`${this.architecture}.${key}`);
  }
}

const lengthOf = (value: MetadataValue | undefined): number =>
  typeof value === "object" && "length" in value ? value.length : 0;
