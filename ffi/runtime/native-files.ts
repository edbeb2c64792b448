// Locates the native libraries and the embedded models: in the build folder when run from source; in subfolders of the
// cache folder, each filled on first use, when run from the compiled binary.

import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { embedded, type Component, type ComponentName } from "./embedded.ts";
import { extract, extractInto, folderOf, removeUnused } from "./extract.ts";
import { reasonOf } from "./native-error.ts";

/** Paths of optional files; those that the build left out are absent. */
type OptionalFiles = { readonly [file in keyof typeof OPTIONAL]?: string };

/** `libraries` and `embeddedModel` exist. Call `unpacked` before reading another of these files. */
export interface NativeFiles extends OptionalFiles {
  /** Folder with the shim, llama.cpp and its compute backends. */
  readonly libraries: string;
  /** The small chat model that serves when no other is given. */
  readonly embeddedModel: string;
  /** The parts of the image model that serves when no other is given. */
  readonly embeddedImages: { readonly model: string; readonly textEncoder: string; readonly taesd: string };
  /** Something the operator should know, in one sentence. */
  readonly warning?: string;
}

const root = join(import.meta.dir, "../..");

const SUFFIXES: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: "dylib", win32: "dll" };

/** Returns the file name of a library of ours. */
export const fileName = (name: string): string => libraryName(`svc_${name}`);

const libraryName = (name: string): string => `lib${name}.${SUFFIXES[process.platform] ?? "so"}`;

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

/** Returns a component. Throws an Error when the build left it out. */
function embeddedComponent(name: ComponentName): Component {
  const component = embedded?.find((candidate) => candidate.name === name);
  if (!component) throw new Error(`This program has no component ${name}.`);
  return component;
}

/** Returns the component of a path of NativeFiles, and the folder of all components; undefined for any other path. */
export function componentOf(path: string): { readonly component: Component; readonly parent: string } | undefined {
  const directory = dirname(path);
  const parent = dirname(directory);
  const component = embedded?.find((candidate) => folderOf(candidate, parent) === directory);
  return component && { component, parent };
}

/**
 * Returns `path`, which can then be read: unpacks its component unless that was done before. Leaves any other path
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

/** Returns the bytes of a file of NativeFiles, unpacked or not. */
export const bytesOf = (path: string): number => packedFile(path)?.size ?? statSync(path).size;

const packedFile = (path: string) => componentOf(path)?.component.files.find(({ name }) => name === basename(path));

/** Returns the paths of optional files that `isThere` finds where `place` says. */
function found(place: (model: (typeof OPTIONAL)[keyof typeof OPTIONAL]) => string, isThere: (path: string) => boolean) {
  const paths = Object.entries(OPTIONAL).map(([name, model]) => [name, place(model)] as const);
  return Object.fromEntries(paths.filter(([, path]) => isThere(path))) as OptionalFiles;
}

/** Returns whether the libraries in this folder also compute on GPUs of this machine. */
export const hasGpuBackend = (libraries: string): boolean =>
  readdirSync(libraries).some((name) => /^(lib)?ggml-(?!base|cpu|blas|rpc)/.test(name));

/** Returns the folder of libraries that `npm run build:native` made last. */
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

/** Files that the build leaves out when pip, Maven or a target is missing: component, folder in the build folder, and file. */
const OPTIONAL = {
  imageLibrary: { component: "images", folder: "lib", file: fileName("image") },
  /** The embedding model that serves when no other is given. */
  embeddedEmbeddings: { component: "embeddings", folder: "embedding", file: "all-minilm-l6-v2.gguf" },
  /** The model for speech to text that serves when no other is given. */
  embeddedTranscription: { component: "transcription", folder: "transcription", file: "whisper-base.bin" },
  /** The speech detector for any such model. */
  embeddedVad: { component: "base", folder: "vad", file: "silero-vad.bin" },
  /** The voice for speech synthesis, with its other files beside it. */
  embeddedVoice: { component: "speech", folder: "speech", file: "voice.onnx" },
  tesseractLibrary: { component: "recognition", folder: "tesseract", file: libraryName("tesseract") },
  /** Tesseract's data for English. */
  embeddedTessdata: { component: "recognition", folder: "recognition", file: "eng.traineddata" },
} as const satisfies Readonly<Record<string, { component: ComponentName; folder: string; file: string }>>;
