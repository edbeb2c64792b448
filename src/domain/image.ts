// Requests and results for images that are drawn from a description or edited by one.

/** File formats of generated images. */
export const IMAGE_FORMATS = ["png", "jpeg", "webp"] as const;
export type ImageFileFormat = (typeof IMAGE_FORMATS)[number];

/** The largest seed; seeds are integers from 0. */
export const LARGEST_SEED = 2 ** 32 - 1;

/** Bounds of a request's settings; a model may draw less. `adapterScale`: either way from 0. */
export const IMAGE_BOUNDS = { steps: 150, guidance: 30, adapterScale: 8 } as const;

/** An image of a request, as a file: PNG, JPEG or WebP. */
export interface EditFile {
  readonly path: string;
  /** The request field of the image, for error messages. */
  readonly field: string;
}

/** Size in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Weights to add to the model's, by the name under which they are offered. */
export interface ImageAdapter {
  readonly name: string;
  readonly scale: number;
}

/** What an image is made from in addition to its description. */
export interface ImageEdit {
  /** The image to change. */
  readonly image: EditFile;
  /** Its size as it is stored: a photograph may be turned when it is shown. */
  readonly storedSize: ImageSize;
  /** Further images that the description refers to; only models trained to edit can use them. */
  readonly references?: readonly EditFile[];
  /** A mask of the image's size; where the mask is transparent, the image is redrawn. */
  readonly mask?: EditFile;
  /** How much of the image to change, above 0 and at most 1; absent: 0.75, unless the model edits by reference. */
  readonly strength?: number;
}

/** How finished images are encoded. */
export interface ImageEncoding {
  readonly format: ImageFileFormat;
  /** 0 to 100, for lossy formats. */
  readonly quality?: number;
  /** Whether PNG files contain how they were made: description, seed and settings. */
  readonly withParameters: boolean;
}

/** What to draw. Absent settings have the model's defaults. */
export interface ImageWork {
  readonly prompt: string;
  readonly negativePrompt?: string;
  /** Whether the negative prompt may have no effect: a model that was made for no guidance cannot follow it. */
  readonly takesNoNegative?: true;
  readonly size?: ImageSize;
  /** Number of images. The seed of each is one above that of the image before. */
  readonly count: number;
  /** Seed of the first image, an integer from 0 to LARGEST_SEED. */
  readonly seed: number;
  readonly steps?: number;
  /** Without `steps`: steps as a multiple of the model's default, rounded up, at least one step. Absent: 1. */
  readonly stepShare?: number;
  /** How closely the description is followed (classifier-free guidance). */
  readonly guidance?: number;
  readonly sampler?: string;
  readonly scheduler?: string;
  readonly adapters?: readonly ImageAdapter[];
  readonly edit?: ImageEdit;
  /** Instead of drawing, enlarge the image of the edit by `scale`; absent scale: the model's own factor. */
  readonly upscale?: { readonly scale?: number };
  /** Number of previews of each unfinished image, as far as there are steps for them. */
  readonly previews: number;
  readonly encoding: ImageEncoding;
}

/** The capabilities of a model, known once the model is loaded. */
export interface ImageModel {
  /** The model family as the library names it: "Flux.2 klein". */
  readonly family: string;
  /** Size of the weights. */
  readonly bytes: number;
  /** The device that computes the model. */
  readonly device: string;
  readonly size: ImageSize;
  /** Largest side, in pixels. */
  readonly largestSide: number;
  readonly steps: number;
  readonly guidance: number;
  readonly sampler: string;
  readonly samplers: readonly string[];
  readonly schedulers: readonly string[];
  /** Names of weights that requests may add. */
  readonly adapters: readonly string[];
  /** What edits the model supports: of an image under a mask, and with reference images. */
  readonly edits: { readonly mask: boolean; readonly references: boolean };
  /** Set for a demonstration that is not meant for real use. */
  readonly isDemo?: true;
}

/**
 * `accepted`: the request is queued · `started`: its first computation begins · `progress`: a step is done · `preview`:
 * an unfinished image · `image`: an image is done · `result`: all are done. `image` counts from 0, `step` from 1;
 * `data` is a file of the requested format, also for a preview.
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

/** The events that the client receives. */
export type DrawingEvent = Exclude<ImageEvent, { readonly type: "started" }>;
