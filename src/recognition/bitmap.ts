// The image of a page for recognition.

/** A greyscale image. */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  /** One byte per pixel, row by row from the top; 0 is black. */
  readonly data: Uint8Array;
}
