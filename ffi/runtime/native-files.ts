// Where the native libraries and the embedded models are: the build folder when run from source, a cache folder that is
// filled once when run from the compiled binary.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { embedded } from "./embedded.ts";
import { extract } from "./extract.ts";

export interface NativeFiles {
  /** Folder with the shim, llama.cpp and its compute backends. */
  readonly libraries: string;
  /** The small chat model that serves when no other is given. */
  readonly embeddedModel: string;
  /** The parts of the model that draws when no other is given. */
  readonly embeddedImages: { readonly model: string; readonly textEncoder: string; readonly taesd: string };
  /** The embedding model that serves when no other is given; absent when the build left it out. */
  readonly embeddedEmbeddings?: string;
  /** The model for speech to text that serves when no other is given; likewise. */
  readonly embeddedTranscription?: string;
  /** The speech detector that goes with any such model; likewise. */
  readonly embeddedVad?: string;
  /** The voice that speaks; its other files lie beside it; likewise. */
  readonly embeddedVoice?: string;
  /** Tesseract's data for English; likewise. */
  readonly embeddedTessdata?: string;
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
    return {
      libraries: developmentLibraries(),
      embeddedModel: join(root, "vendor/svc-mini", MODEL),
      embeddedImages: imagesIn(join(root, "vendor/svc-draw")),
      ...found(({ folder, file }) => join(root, "vendor/.build", folder, "current", file)),
    };
  }
  const { directory, warning } = extract(embedded, cacheDir);
  return {
    libraries: directory,
    embeddedModel: join(directory, MODEL),
    embeddedImages: imagesIn(directory),
    ...found(({ file }) => join(directory, file)),
    ...(warning && { warning }),
  };
}

/** The models that are where `place` says. */
function found(place: (model: (typeof OPTIONAL)[keyof typeof OPTIONAL]) => string) {
  const paths = Object.entries(OPTIONAL).map(([name, model]) => [name, place(model)] as const);
  return Object.fromEntries(paths.filter(([, path]) => existsSync(path))) as Partial<
    Record<keyof typeof OPTIONAL, string>
  >;
}

/** Whether the libraries in this folder compute on GPUs, too. */
export const hasGpuBackend = (libraries: string): boolean =>
  readdirSync(libraries).some((name) => /^libggml-(?!base|cpu|blas)/.test(name));

/** The set that `npm run build:native` made last. */
export function developmentLibraries(): string {
  const current = join(root, "vendor/.build/lib/current");
  if (!existsSync(current)) throw new Error("The native libraries are not built. Run `npm run build:native`.");
  return current;
}

const MODEL = "svc-mini-q8_0.gguf";

const imagesIn = (folder: string): NativeFiles["embeddedImages"] => ({
  model: join(folder, "svc-draw-dit.safetensors"),
  textEncoder: join(folder, "svc-draw-llm.gguf"),
  taesd: join(folder, "svc-draw-tae.safetensors"),
});
/** What the build leaves out when pip is missing: the folder in the build folder, and the file. */
const OPTIONAL = {
  embeddedEmbeddings: { folder: "embedding", file: "all-minilm-l6-v2.gguf" },
  embeddedTranscription: { folder: "transcription", file: "whisper-base.bin" },
  embeddedVad: { folder: "vad", file: "silero-vad.bin" },
  embeddedVoice: { folder: "speech", file: "voice.onnx" },
  embeddedTessdata: { folder: "recognition", file: "eng.traineddata" },
} as const;
