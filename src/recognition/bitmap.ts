// A page as recognition sees it.

/** A greyscale image. */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  /** A byte a pixel, row by row from the top; 0 is black. */
  readonly data: Uint8Array;
}
