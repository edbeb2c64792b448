// What reads a page with Tesseract: its native library, or the same as WebAssembly where that cannot be used.

import type { Box, LanguageData } from "../../../domain/recognition.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";

/** Tesseract could not read a page: it is out of memory or met something unexpected. */
export class TesseractError extends Error {
  override readonly name = "TesseractError";
}

/** An instance of Tesseract with the data of some languages. */
export interface TesseractCore {
  setPicture(picture: Bitmap, dotsPerInch: number): void;
  /**
   * Returns the words of the picture or a part of it as Tesseract's rows. `layout`: a page segmentation mode. Throws what
   * `progress` threw, or TesseractError.
   */
  read(layout: number, part?: Box): string;
  /** Frees the picture. */
  clear(): void;
  close(): void;
}

export interface CoreOptions {
  /** Files that exist. */
  readonly languages: readonly LanguageData[];
  /** Whether the dictionaries of the languages are used. */
  readonly dictionaries: boolean;
  /** Called about once per line while a page is read; an error that it throws ends the reading. */
  readonly progress: () => void;
}

/** Starts an instance; undefined when it cannot use the data. Throws when a file cannot be read. */
export type StartCore = (options: CoreOptions) => Promise<TesseractCore | undefined>;
