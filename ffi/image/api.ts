// The typed interface of the image shim; `binding.ts` implements it with bun:ffi, and tests implement it with a fake.

import { NativeError, type NativeFailure } from "../runtime/native-error.ts";

/** Why a native call or an image failed, in the order of the C enum svc_image_error. */
export const IMAGE_ERRORS = ["failed", "stopped", "no-memory", "adapter", "too-long"] as const;
export type ImageErrorCode = (typeof IMAGE_ERRORS)[number];

/** A native call failed; the message is for the log, but that of `too-long` is a rule for clients. */
export class ImageError extends NativeError<ImageErrorCode> {
  override readonly name = "ImageError";
}

/** See svc_image_load_start in shim.h. All strings are paths. */
export interface ImageConfig {
  /** A complete model, or the diffusion model when the model is split over several files. */
  readonly path: string;
  readonly vae?: string;
  readonly textEncoders: readonly string[];
  /** A small decoder: it decodes previews, and also finished images when there is no other decoder. */
  readonly taesd?: string;
  readonly threads: number;
  readonly mmap: boolean;
  readonly flashAttention: boolean;
  /** True for a model that does not draw but enlarges pictures. */
  readonly upscales: boolean;
}

/** See svc_image_info in shim.h. */
export interface ImageTraits {
  /** The library's name for the model family, for example "Flux.2 klein". */
  readonly family: string;
  /** Width and height of images must be multiples of this many pixels. */
  readonly multiple: number;
  /** A small decoder is in use, which is fast and needs little memory. */
  readonly hasTinyDecoder: boolean;
  /** The model can edit images that are given as references. */
  readonly takesReferences: boolean;
  /** The model cannot draw without a reference. */
  readonly needsReference: boolean;
  readonly device: string;
  /** Default sampler and scheduler. */
  readonly sampler: string;
  readonly scheduler: string;
  readonly samplers: readonly string[];
  readonly schedulers: readonly string[];
  /** Factor by which an upscaler enlarges pictures; 1 for a model that draws. */
  readonly scale: number;
}

/** A picture as rows from the top: three bytes per pixel, or one per pixel of a mask. */
export interface Picture {
  readonly use: "image" | "mask" | "reference";
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

export interface DrawOptions {
  /** Abort requests of this owner stop the image; see svc_abort_listen. */
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
  /** How much of the initial picture `image` is replaced, 0 to 1. */
  readonly strength: number;
  /** Number of previews to show before the image is done. */
  readonly previews: number;
  readonly threads: number;
  /** Decode the image tile by tile, which needs less memory; pixels differ slightly. */
  readonly tiles: boolean;
  readonly adapters: readonly { readonly path: string; readonly scale: number }[];
  readonly pictures: readonly Picture[];
}

export interface DrawProgress {
  /** Completed steps and total steps; both 0 before the first step begins. */
  readonly step: number;
  readonly steps: number;
  /** Number of previews shown so far. */
  readonly previews: number;
  /** Size of the latest preview, in pixels. */
  readonly width: number;
  readonly height: number;
}

/** See svc_image_stage in shim.h. */
export const IMAGE_STAGES = ["none", "drawing", "done", "paused"] as const;
export type DrawState = (typeof IMAGE_STAGES)[number] | NativeFailure<ImageErrorCode>;

/** Draws images; one is computed at a time and the others are paused. No method waits for an image. */
export interface ImageLibrary {
  traits(): ImageTraits;
  /** Begins to draw an image. Throws ImageError, also while another image is being computed. */
  start(options: DrawOptions): void;
  /** Pauses the owner's image after its current step, unless that is the last. Throws ImageError when there is none. */
  pause(owner: number): void;
  /** Resumes an image, or cancels a requested pause. Throws ImageError, also while another image is being computed. */
  resume(owner: number, threads: number): void;
  state(owner: number): DrawState;
  /** Returns how far the image is. Throws ImageError when it was taken or stopped. */
  progress(owner: number): DrawProgress;
  /** Returns the latest preview as RGB pixels, of the size that `progress` reports. */
  preview(owner: number): Uint8Array;
  /** Returns the finished image as RGB pixels in the requested size. The library then forgets the image. */
  take(owner: number): Uint8Array;
  /** Stops an image within one node of its graphs. `state` is "drawing" until the image has ended, then "none". */
  stop(owner: number): void;
}
