// What the head of an image file says, read before anything is decoded.

import { readBmp } from "./bmp-header.ts";
import { readGif, readPng } from "./image-containers.ts";
import { readJpeg } from "./jpeg-header.ts";
import type { Pixels } from "./pixels.ts";
import type { ImageFormat } from "./sniff.ts";
import { readWebp } from "./webp-header.ts";

export interface ImageHeader {
  /** Pixels as they are stored, before any rotation. */
  readonly width: number;
  readonly height: number;
  /** The file goes on to the end of its (first) picture. */
  readonly complete: boolean;
  /** Pixels may be transparent. */
  readonly alpha: boolean;
  /** EXIF orientation, 1 to 8, where the decoder does not apply it by itself. */
  readonly orientation?: number;
  /** The first picture of an animation as a file of its own, where the decoder cannot pick it out by itself. */
  readonly still?: Uint8Array;
  /** Reads the pixels, where the decoder cannot. Throws the signal's reason. */
  readonly pixels?: (signal: AbortSignal) => Promise<Pixels>;
}

const readers: Readonly<Record<ImageFormat, (bytes: Uint8Array) => ImageHeader | undefined>> = {
  png: readPng,
  jpeg: readJpeg,
  webp: readWebp,
  gif: readGif,
  bmp: readBmp,
};

/** Undefined when the file has no readable header. Throws Refusal for a variant that cannot be decoded. */
export function readImageHeader(format: ImageFormat, bytes: Uint8Array): ImageHeader | undefined {
  try {
    return readers[format](bytes);
  } catch (error) {
    // A DataView refuses to read beyond the end of a file that was cut off.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
