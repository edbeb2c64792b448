// The typed face of the image shim: what `binding.ts` implements with bun:ffi and a fake implements in tests.

import type { LoadState, LogLine } from "../runtime/library.ts";
import { NativeError, type NativeFailure } from "../runtime/native-error.ts";

/** Why a native call or an image failed, in the order of svc_image_error. */
export const IMAGE_ERRORS = ["failed", "stopped", "no-memory", "adapter"] as const;
export type ImageErrorCode = (typeof IMAGE_ERRORS)[number];

/** A native call failed; the message is for the log. */
export class ImageError extends NativeError<ImageErrorCode> {
  override readonly name = "ImageError";
}

/** See svc_image_load_start in shim.h. All are paths. */
export interface ImageConfig {
  /** A whole model, or what draws in one that comes in parts. */
  readonly path: string;
  readonly vae?: string;
  readonly textEncoders: readonly string[];
  /** A small decoder: it shows images that are not done, and decodes all where there is no other. */
  readonly taesd?: string;
  readonly threads: number;
  readonly mmap: boolean;
  readonly flashAttention: boolean;
  /** It draws nothing, but makes pictures larger. */
  readonly upscales: boolean;
}

/** See svc_image_info in shim.h. */
export interface ImageTraits {
  /** As the library calls it: "Flux.2 klein". */
  readonly family: string;
  /** Sides of images are multiples of so many pixels. */
  readonly multiple: number;
  /** It decodes quickly and with little memory. */
  readonly hasTinyDecoder: boolean;
  /** Images are changed by showing them to the model. */
  readonly takesReferences: boolean;
  /** It does nothing else. */
  readonly needsReference: boolean;
  readonly device: string;
  /** What is taken where nothing is wished. */
  readonly sampler: string;
  readonly scheduler: string;
  readonly samplers: readonly string[];
  readonly schedulers: readonly string[];
  /** How many times as large pictures become; 1 of what draws. */
  readonly scale: number;
}

/** Rows from the top: three bytes a pixel, one of a mask. */
export interface Picture {
  readonly use: "image" | "mask" | "reference";
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

export interface DrawOptions {
  /** Whose abort requests stop it: see svc_abort_listen. */
  readonly owner: number;
  readonly prompt: string;
  readonly negativePrompt: string;
  readonly width: number;
  readonly height: number;
  readonly seed: number;
  readonly steps: number;
  readonly guidance: number;
  readonly sampler: string;
  readonly scheduler: string;
  /** How much of the picture `image` goes, 0 to 1. */
  readonly strength: number;
  /** How often it is shown before it is done. */
  readonly previews: number;
  readonly threads: number;
  /** It is decoded piece by piece, in less memory; pixels differ a little. */
  readonly tiles: boolean;
  readonly adapters: readonly { readonly path: string; readonly scale: number }[];
  readonly pictures: readonly Picture[];
}

export interface DrawProgress {
  /** Steps that are done, and how many there will be; both 0 before the first begins. */
  readonly step: number;
  readonly steps: number;
  /** How often it was shown. */
  readonly previews: number;
  /** As it was shown last. */
  readonly width: number;
  readonly height: number;
}

/** See svc_image_stage in shim.h. */
export const IMAGE_STAGES = ["none", "drawing", "done", "paused"] as const;
export type DrawState = (typeof IMAGE_STAGES)[number] | NativeFailure<ImageErrorCode>;

/** Draws images, one at a time: others have paused. Nothing here waits for them. */
export interface ImageLibrary {
  /** Reads abort requests from a pipe, and ends the process when that closes. */
  listenForAborts(fd: number): void;
  loadStart(config: ImageConfig): void;
  loadPoll(): LoadState;
  traits(): ImageTraits;
  /** Stops what is drawn. Throws while loading. */
  unload(): void;
  /** Begins to draw an image. Throws ImageError, also while another one is computed. */
  start(options: DrawOptions): void;
  /** Has the owner's image pause behind its next step, unless that is its last. Throws ImageError where there is none. */
  pause(owner: number): void;
  /** Has it go on, or not pause. Throws ImageError, also while another one is computed. */
  resume(owner: number, threads: number): void;
  state(owner: number): DrawState;
  /** Throws ImageError when the image was taken or stopped. */
  progress(owner: number): DrawProgress;
  /** Red, green and blue of the image as it was shown last, of the size that `progress` has. */
  preview(owner: number): Uint8Array;
  /** Red, green and blue of the image that is done, as large as was wished; it is forgotten then. */
  take(owner: number): Uint8Array;
  /** The image ends within a node of its graphs, or at once: state is "drawing" until then, and "none" afterwards. */
  stop(owner: number): void;
  /** Log lines since the last call. */
  drainLog(): LogLine[];
}
