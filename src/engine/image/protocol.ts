// What an image engine is started with, and the images that its process is sent one by one: a request for several loses no
// more than one with its process, and takes turns with others.

import type { ImageEvent, ImageModel, ImageSize, ImageWork } from "../../domain/image.ts";
import type { ComputeOptions } from "../process/kind.ts";
import type { FromEngine } from "../process/protocol.ts";

/** An adapter's file, by the name that requests call it. */
export interface ImageAdapterFile {
  readonly name: string;
  readonly path: string;
}

export interface PainterOptions extends ComputeOptions {
  /** Of the model, as clients know it. */
  readonly name: string;
  /** The native library that draws. */
  readonly imageLibrary: string;
  /** A whole model, or the part of one that draws. */
  readonly modelPath: string;
  readonly vaePath?: string;
  readonly textEncoders: readonly string[];
  readonly taesdPath?: string;
  readonly adapters: readonly ImageAdapterFile[];
  /** Bytes of all these files. */
  readonly bytes: number;
  /** It is a demonstration, which draws in this size alone: other sizes are enlarged from it. */
  readonly demo?: ImageSize;
  /** It draws nothing, but makes images larger. */
  readonly upscales?: true;
}

/** One image of a request. */
export interface PictureJob {
  /** The request, by a number of its own: what it is made from is decoded once. */
  readonly request: number;
  /** Which of its images, from 0. */
  readonly image: number;
  /** Its seed is this image's. */
  readonly work: ImageWork;
  readonly client?: string | undefined;
}

/** The last one is `image`. */
export type PictureEvent = Exclude<ImageEvent, { readonly type: "result" }>;
export type FromPainter = FromEngine<ImageModel, PictureEvent>;
