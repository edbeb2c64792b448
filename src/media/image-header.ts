// Reads an image file's header before anything is decoded.

import { readBmp } from "./bmp-header.ts";
import { readGif, readPng } from "./image-containers.ts";
import { readJpeg } from "./jpeg-header.ts";
import type { Pixels } from "./pixels.ts";
import type { ImageFormat } from "./sniff.ts";
import { readWebp } from "./webp-header.ts";

export interface ImageHeader {
  /** Stored size in pixels, before any rotation. */
  readonly width: number;
  readonly height: number;
  /** Whether the file contains its (first) picture to the end. */
  readonly complete: boolean;
  /** Whether pixels may be transparent. */
  readonly alpha: boolean;
  /** EXIF orientation, 1 to 8; absent when the decoder applies it. */
  readonly orientation?: number;
  /** The first picture of an animation as a file of its own, if the decoder cannot extract it. */
  readonly still?: Uint8Array;
  /** Reads the pixels of a file that the decoder does not support. Throws the signal's reason. */
  readonly pixels?: (signal: AbortSignal) => Promise<Pixels>;
}

const readers: Readonly<Record<ImageFormat, (bytes: Uint8Array) => ImageHeader | undefined>> = {
  png: readPng,
  jpeg: readJpeg,
  webp: readWebp,
  gif: readGif,
  bmp: readBmp,
};

/** Returns undefined when the file has no readable header. Throws Refusal for a variant that cannot be decoded. */
export function readImageHeader(format: ImageFormat, bytes: Uint8Array): ImageHeader | undefined {
  try {
    return readers[format](bytes);
  } catch (error) {
    // A DataView throws RangeError beyond the end of a truncated file.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
