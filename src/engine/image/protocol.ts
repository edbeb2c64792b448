// Options of an image engine, and its jobs: one per image. A request for several images thus loses at most one of them
// when the process dies, and takes turns with others.

import type { ImageEvent, ImageModel, ImageSize, ImageWork } from "../../domain/image.ts";
import type { EngineJob } from "../../domain/request-origin.ts";
import type { ComputeOptions } from "../process/kind.ts";
import type { FromEngine } from "../process/protocol.ts";

/** An adapter's file and the name that requests use for it. */
export interface ImageAdapterFile {
  readonly name: string;
  readonly path: string;
}

export interface PainterOptions extends ComputeOptions {
  /** The model's name, as clients know it. */
  readonly name: string;
  /** Path of the native library that draws. */
  readonly imageLibrary: string;
  /** Path of a whole model, or of the part of one that draws. */
  readonly modelPath: string;
  readonly vaePath?: string;
  readonly textEncoders: readonly string[];
  readonly taesdPath?: string;
  readonly adapters: readonly ImageAdapterFile[];
  /** Size of all these files together, in bytes. */
  readonly bytes: number;
  /** Set for the demonstration, which draws only in this size: other sizes are enlarged from it. */
  readonly demo?: ImageSize;
  /** Set for a model that draws nothing but enlarges images. */
  readonly upscales?: true;
}

/** One image of a request; the `seed` of its work is this image's seed. */
export interface PictureJob extends EngineJob<ImageWork> {
  /** Index of the image within its request, from 0. */
  readonly image: number;
}

/** The last event of an image is `image`. */
export type PictureEvent = Exclude<ImageEvent, { readonly type: "result" }>;
export type FromPainter = FromEngine<ImageModel, PictureEvent>;
