// A page as recognition sees it, and what was read on it.

/** A greyscale image. */
export interface Bitmap {
  readonly width: number;
  readonly height: number;
  /** A byte a pixel, row by row from the top; 0 is black. */
  readonly data: Uint8Array;
}

/** A rectangle in pixels; its origin is the top left corner of the page. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface RecognizedWord {
  readonly text: string;
  /** From 0 to 1. */
  readonly confidence: number;
  readonly box: Box;
  /** Number of its line on the page, and of the block of lines, both from 0. */
  readonly line: number;
  readonly block: number;
}
