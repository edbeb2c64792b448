// Where the native libraries and the embedded models are: the build folder when run from source, folders in the cache
// folder, each filled when it is first used, when run from the compiled binary.

import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { embedded, type Component, type ComponentName } from "./embedded.ts";
import { extract, extractInto, folderOf, removeUnused } from "./extract.ts";
import { reasonOf } from "./native-error.ts";

/** `libraries` and `embeddedModel` are there. Whoever reads one of the others calls `unpacked` with its path before. */
export interface NativeFiles {
  /** Folder with the shim, llama.cpp and its compute backends. */
  readonly libraries: string;
  /** The small chat model that serves when no other is given. */
  readonly embeddedModel: string;
  /** The parts of the model that draws when no other is given. */
  readonly embeddedImages: { readonly model: string; readonly textEncoder: string; readonly taesd: string };
  /** The library that draws; absent when the build left it out. */
  readonly imageLibrary?: string;
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

const SUFFIXES: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: "dylib", win32: "dll" };

/** Name of a library's file. */
export const fileName = (name: string): string => `libsvc_${name}.${SUFFIXES[process.platform] ?? "so"}`;

/**
 * Finds the native files, extracting the base under `cacheDir` at the first start of a compiled binary.
 * Throws an Error with one plain sentence when that is not possible.
 */
export function nativeFiles(cacheDir: string): NativeFiles {
  if (!embedded) {
    return {
      libraries: developmentLibraries(),
      embeddedModel: join(root, "vendor/svc-mini", MODEL),
      embeddedImages: imagesIn(join(root, "vendor/svc-draw")),
      ...found(({ folder, file }) => join(root, "vendor/.build", folder, "current", file), existsSync),
    };
  }
  const { directory, warning } = extract(embeddedComponent("base"), cacheDir);
  removeUnused(embedded, dirname(directory));
  const folder = (name: ComponentName) => folderOf(embeddedComponent(name), dirname(directory));
  return {
    libraries: directory,
    embeddedModel: join(directory, MODEL),
    embeddedImages: imagesIn(folder("images")),
    ...found(
      ({ component, file }) => join(folder(component), file),
      (path) => packedFile(path) !== undefined,
    ),
    ...(warning && { warning }),
  };
}

/** Throws an Error where the build left it out. */
function embeddedComponent(name: ComponentName): Component {
  const component = embedded?.find((candidate) => candidate.name === name);
  if (!component) throw new Error(`This program has no component ${name}.`);
  return component;
}

/** The component that a path of NativeFiles lies in, and the folder of all components; undefined for any other path. */
export function componentOf(path: string): { readonly component: Component; readonly parent: string } | undefined {
  const directory = dirname(path);
  const parent = dirname(directory);
  const component = embedded?.find((candidate) => folderOf(candidate, parent) === directory);
  return component && { component, parent };
}

/**
 * `path`, which can be read now: the component that it lies in is unpacked, unless it was before. Any other path is left
 * alone. Throws an Error with one plain sentence when that is not possible.
 */
export function unpacked(path: string): string {
  const place = componentOf(path);
  if (!place) return path;
  try {
    extractInto(place.component, place.parent);
    return path;
  } catch (error) {
    throw new Error(`${place.parent} cannot hold ${place.component.name} (${reasonOf(error)}).`);
  }
}

/** Bytes of a file of NativeFiles, unpacked or not. */
export const bytesOf = (path: string): number => packedFile(path)?.size ?? statSync(path).size;

const packedFile = (path: string) => componentOf(path)?.component.files.find(({ name }) => name === basename(path));

/** Those of the models that `isThere` finds where `place` says. */
function found(place: (model: (typeof OPTIONAL)[keyof typeof OPTIONAL]) => string, isThere: (path: string) => boolean) {
  const paths = Object.entries(OPTIONAL).map(([name, model]) => [name, place(model)] as const);
  return Object.fromEntries(paths.filter(([, path]) => isThere(path))) as Partial<
    Record<keyof typeof OPTIONAL, string>
  >;
}

/** Whether the libraries in this folder compute on GPUs of this machine, too. */
export const hasGpuBackend = (libraries: string): boolean =>
  readdirSync(libraries).some((name) => /^(lib)?ggml-(?!base|cpu|blas|rpc)/.test(name));

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
/** What the build leaves out when pip or a target is missing: its component, the folder in the build folder, and the file. */
const OPTIONAL = {
  imageLibrary: { component: "images", folder: "lib", file: fileName("image") },
  embeddedEmbeddings: { component: "embeddings", folder: "embedding", file: "all-minilm-l6-v2.gguf" },
  embeddedTranscription: { component: "transcription", folder: "transcription", file: "whisper-base.bin" },
  embeddedVad: { component: "base", folder: "vad", file: "silero-vad.bin" },
  embeddedVoice: { component: "speech", folder: "speech", file: "voice.onnx" },
  embeddedTessdata: { component: "recognition", folder: "recognition", file: "eng.traineddata" },
} as const satisfies Readonly<Record<string, { component: ComponentName; folder: string; file: string }>>;
