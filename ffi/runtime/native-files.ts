// Where the native libraries and the embedded model are: the build folder when run from source, a cache folder that is
// filled once when run from the compiled binary.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { embedded } from "./embedded.ts";
import { extract } from "./extract.ts";

export interface NativeFiles {
  /** Folder with the shim, llama.cpp and its compute backends. */
  readonly libraries: string;
  /** The small chat model that serves when no other is given. */
  readonly embeddedModel: string;
  /** The embedding model that serves when no other is given; absent when the build left it out. */
  readonly embeddedEmbeddings?: string;
  /** The model that recognises speech when no other is given, and the one that tells speech from all else. */
  readonly embeddedTranscription?: string;
  readonly embeddedVad?: string;
  /** Something the operator should know, in one sentence. */
  readonly warning?: string;
}

const root = join(import.meta.dir, "../..");

/**
 * Finds the native files, extracting them under `cacheDir` at the first start of a compiled binary.
 * Throws an Error with one plain sentence when that is not possible.
 */
export function nativeFiles(cacheDir: string): NativeFiles {
  if (!embedded) {
    const embeddedEmbeddings = join(root, "vendor/.build/embedding/current", EMBEDDINGS);
    return {
      libraries: developmentLibraries(),
      embeddedModel: join(root, "vendor/svc-mini", MODEL),
      ...(existsSync(embeddedEmbeddings) && { embeddedEmbeddings }),
    };
  }
  const { directory, warning } = extract(embedded, cacheDir);
  return {
    libraries: directory,
    embeddedModel: join(directory, MODEL),
    ...(embedded.files.some(({ name }) => name === EMBEDDINGS) && { embeddedEmbeddings: join(directory, EMBEDDINGS) }),
    ...(warning && { warning }),
  };
}

/** The set that `npm run build:native` made last. */
export function developmentLibraries(): string {
  const current = join(root, "vendor/.build/lib/current");
  if (!existsSync(current)) throw new Error("The native libraries are not built. Run `npm run build:native`.");
  return current;
}

const MODEL = "svc-mini-q8_0.gguf";
const EMBEDDINGS = "all-minilm-l6-v2.gguf";
