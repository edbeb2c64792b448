// What svc needs to know about a model file before it starts an engine for it.

import { existsSync } from "node:fs";
import { basename } from "node:path";
import { supportedArchitectures, unsuitableArchitectures } from "./architectures.ts";
import { ModelFileError, readGguf, type Gguf } from "./gguf.ts";

export interface ModelFile {
  readonly path: string;
  /** The file's name without `.gguf` and part numbers: the name that clients see. */
  readonly id: string;
  readonly architecture: string;
  readonly trainedContext: number;
  readonly layers: number;
  /** Key/value heads of each layer. */
  readonly kvHeads: readonly number[];
  readonly keyLength: number;
  readonly valueLength: number;
  readonly vocabulary: number;
  readonly fileBytes: number;
  /** Unix seconds. */
  readonly modified: number;
}

/** Reads and checks a model file. Throws ModelFileError with one plain sentence when it cannot be served. */
export function readModelFile(path: string): ModelFile {
  const gguf = readGguf(path);
  const architecture = gguf.metadata.get("general.architecture");
  if (typeof architecture !== "string") throw new ModelFileError(`${path} does not say what kind of model it is.`);
  const unsuitable = unsuitableArchitectures.get(architecture);
  if (unsuitable) throw new ModelFileError(`${path} is ${unsuitable} (architecture ${architecture}).`);
  if (!supportedArchitectures.has(architecture)) {
    throw new ModelFileError(
      `${path} has the architecture ${architecture}, which this version of llama.cpp does not know.`,
    );
  }
  if (!gguf.metadata.has("tokenizer.ggml.model"))
    throw new ModelFileError(`${path} has no tokenizer, so it cannot read text.`);
  checkParts(path, gguf);
  return describe(path, architecture, gguf);
}

function describe(path: string, architecture: string, gguf: Gguf): ModelFile {
  const { metadata } = gguf;
  const number = (key: string, fallback: number) => {
    const value = metadata.get(`${architecture}.${key}`);
    return typeof value === "number" || typeof value === "bigint" ? Number(value) : fallback;
  };
  const layers = number("block_count", 0);
  const heads = number("attention.head_count", 1);
  const headLength = Math.floor(number("embedding_length", 0) / Math.max(1, heads));
  const perLayer = metadata.get(`${architecture}.attention.head_count_kv`);
  const tokens = metadata.get("tokenizer.ggml.tokens");
  return {
    path,
    id: basename(path)
      .replace(/\.gguf$/i, "")
      .replace(/-\d{5}-of-\d{5}$/, ""),
    architecture,
    trainedContext: number("context_length", 4096),
    layers,
    kvHeads: Array.isArray(perLayer)
      ? perLayer
      : Array.from({ length: layers }, () => number("attention.head_count_kv", heads)),
    keyLength: number("attention.key_length", headLength),
    valueLength: number("attention.value_length", headLength),
    vocabulary: typeof tokens === "object" ? tokens.length : 0,
    fileBytes: gguf.fileBytes,
    modified: gguf.modified,
  };
}

/** A model in several files (`…-00001-of-00003.gguf`) is named by its first and needs all of them. */
function checkParts(path: string, gguf: Gguf): void {
  const parts = Number(gguf.metadata.get("split.count") ?? 1);
  const name = /-(\d{5})-of-(\d{5})\.gguf$/.exec(path);
  if (parts <= 1 || !name) return;
  if (name[1] !== "00001")
    throw new ModelFileError(`${path} is one part of ${parts}; name the first one (…-00001-of-${name[2]}.gguf).`);
  for (let part = 2; part <= parts; part++) {
    const other = path.replace(/-\d{5}-of-/, `-${String(part).padStart(5, "0")}-of-`);
    if (!existsSync(other))
      throw new ModelFileError(`${path} is one part of ${parts}, and ${basename(other)} is missing beside it.`);
  }
}
