// The image of a page for recognition.

/** A greyscale image. */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  /** One byte per pixel, row by row from the top; 0 is black. */
  readonly data: Uint8Array;
}

/** Red, green and blue of an image, or its grey. */
export type Channels = readonly [Bitmap, ...Bitmap[]];
