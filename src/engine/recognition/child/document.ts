// The common view of the pages of a document, whatever its format.

import type { RecognizedWord } from "../../../domain/recognition.ts";
import type { Bitmap, Channels } from "../../../recognition/bitmap.ts";

export interface DocumentPage {
  /** In the unit of all boxes on the page: pixels, or points of a PDF. */
  readonly width: number;
  readonly height: number;
  /** The words stored in the document itself; empty if the page is only a picture. */
  readonly words: readonly RecognizedWord[];
  /** How many right angles most of these words are turned, clockwise. */
  readonly turns?: number;
  /** Returns the page in grey, dark on white, with about this resolution where it can be chosen. */
  picture(dotsPerInch: number): Promise<PagePicture>;
}

interface PagePicture {
  readonly bitmap: Bitmap;
  /** Resolution as far as it is known; otherwise a guess. */
  readonly dotsPerInch: number;
  /** Pixels of the bitmap for each unit of the page. */
  readonly scale: number;
  channels(): Channels;
}

export interface OpenDocument {
  readonly pageCount: number;
  /** Opens a page, from 1, and closes the one before. Throws Refusal when it cannot be read. */
  page(number: number): Promise<DocumentPage>;
  close(): void;
}
