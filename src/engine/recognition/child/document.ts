// What pages are read from, whatever the file is.

import type { RecognizedWord } from "../../../domain/recognition.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";

export interface DocumentPage {
  /** In the unit of all boxes on it: pixels, or points of a PDF. */
  readonly width: number;
  readonly height: number;
  /** The words that the document has itself; none: the page is a picture. */
  readonly words: readonly RecognizedWord[];
  /** The page in grey, dark on white, with about so many dots an inch where that can be chosen. */
  picture(dotsPerInch: number): Promise<PagePicture>;
}

interface PagePicture {
  readonly bitmap: Bitmap;
  /** What is known of its resolution; a guess where nothing is. */
  readonly dotsPerInch: number;
  /** Its pixels for each unit of the page. */
  readonly scale: number;
  /** Red, green and blue of a picture that has colours; else its grey. */
  channels(): readonly [Bitmap, ...Bitmap[]];
}

export interface OpenDocument {
  readonly pageCount: number;
  /** Opens a page, from 1; throws SvcError about one that cannot be read. The page before is closed. */
  page(number: number): Promise<DocumentPage>;
  close(): void;
}
