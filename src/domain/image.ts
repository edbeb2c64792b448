// Images that are drawn from a description, or changed by one.

/** The formats that images are written in. */
export const IMAGE_FORMATS = ["png", "jpeg", "webp"] as const;
export type ImageFileFormat = (typeof IMAGE_FORMATS)[number];

/** Of seeds, which are integers from 0. */
export const LARGEST_SEED = 2 ** 32 - 1;

/** A picture of a request, in a file: PNG, JPEG or WebP. */
export interface ImageSource {
  readonly path: string;
  /** The request's field that it came in, for messages. */
  readonly field: string;
}

/** In pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Weights that are added to the model's, by the name they were offered under. */
export interface ImageAdapter {
  readonly name: string;
  readonly scale: number;
}

/** What an image is made from beside its description. */
export interface ImageEdit {
  /** The image that is changed. */
  readonly image: ImageSource;
  /** More that the description speaks of; models that edit by themselves alone know what to do with them. */
  readonly references?: readonly ImageSource[];
  /** As large as the image; where it is transparent the image is drawn anew. */
  readonly mask?: ImageSource;
  /** How much of the image goes, above 0 and at most 1; absent: the model's usual one. */
  readonly strength?: number;
}

/** How a finished image is written. */
export interface ImageEncoding {
  readonly format: ImageFileFormat;
  /** From 0 to 100, of the formats that lose something. */
  readonly quality?: number;
  /** A PNG file says how it was made: description, seed and settings. */
  readonly tellsHow: boolean;
}

/** What is to be drawn. Absent settings are those that the model was made for. */
export interface ImageWork {
  readonly prompt: string;
  readonly negativePrompt?: string;
  readonly size?: ImageSize;
  /** Images; each is drawn with a seed one above the last one's. */
  readonly count: number;
  /** Of the first image, an integer from 0 below 2^32. */
  readonly seed: number;
  readonly steps?: number;
  /** Steps as a multiple of the model's own, where `steps` is absent: rounded up, one at least. Absent: 1. */
  readonly stepShare?: number;
  /** How closely the description is followed (classifier-free guidance). */
  readonly guidance?: number;
  readonly sampler?: string;
  readonly scheduler?: string;
  readonly adapters?: readonly ImageAdapter[];
  readonly edit?: ImageEdit;
  /** Nothing is drawn: the image of the edit is made larger, by this factor; absent: by the model's own. */
  readonly upscale?: { readonly scale?: number };
  /** How many times each image is shown before it is done, as far as it has steps. */
  readonly previews: number;
  readonly encoding: ImageEncoding;
}

/** What a model can do, known once it is loaded. */
export interface ImageModel {
  /** As the library calls its family: "Flux.2 klein". */
  readonly family: string;
  /** Bytes of its weights. */
  readonly bytes: number;
  /** Where it computes. */
  readonly device: string;
  readonly size: ImageSize;
  /** Largest side, in pixels. */
  readonly largestSide: number;
  readonly steps: number;
  readonly guidance: number;
  readonly sampler: string;
  readonly samplers: readonly string[];
  readonly schedulers: readonly string[];
  /** Names of weights that may be added. */
  readonly adapters: readonly string[];
  /** Whether images are changed by themselves, under a mask, and by others that are shown beside them. */
  readonly edits: { readonly image: boolean; readonly mask: boolean; readonly references: boolean };
  /** A demonstration, not a model to work with. */
  readonly isDemo?: true;
}

/**
 * `accepted`: it waits for its turn · `started`: its first computation begins · `progress`: a step is done · `preview`: how the
 * image looks so far · `image`: one is done · `result`: all are. `image` counts from 0, `step` from 1; `data` is a file
 * of the format that was asked for, that of a preview as well.
 */
export type ImageEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started" }
  | { readonly type: "progress"; readonly image: number; readonly step: number; readonly steps: number }
  | {
      readonly type: "preview";
      readonly image: number;
      readonly index: number;
      readonly data: Uint8Array;
      readonly size: ImageSize;
    }
  | {
      readonly type: "image";
      readonly image: number;
      readonly data: Uint8Array;
      readonly size: ImageSize;
      readonly seed: number;
    }
  | { readonly type: "result" };

/** What those are told who want the images. */
export type DrawingEvent = Exclude<ImageEvent, { readonly type: "started" }>;

/** How far the images of a request are. */
export interface ImageProgress {
  /** Images that are done, and all. */
  readonly done: number;
  readonly of: number;
  /** Of the image that is being drawn; both 0 before its first step is done. */
  readonly step: number;
  readonly steps: number;
}
