// Text and other things that are recognised on the pages of pictures and documents.

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

/**
 * What can be wanted of a picture. `text`: what is written · `table`: tables in it · `barcode`: codes · `classify`: what it
 * shows · `saliency`: where the eye goes · `auto`: whatever of text, codes and labels there is · `debug`: text, and how it was
 * found.
 */
export const RECOGNITION_MODES = ["text", "table", "barcode", "classify", "saliency", "auto", "debug"] as const;
export type RecognitionMode = (typeof RECOGNITION_MODES)[number];

/** Trained data for a language or a script, in a file. */
export interface LanguageData {
  /** As Tesseract calls it: eng, chi_sim. */
  readonly name: string;
  readonly path: string;
}

/** Languages that PP-OCR is better at than Tesseract, and those that it reads in pages of these. */
export const PPOCR_LANGUAGES = { own: ["chi_sim", "chi_tra", "jpn"], beside: ["eng"] } as const;

/** How text is recognised. */
export interface TextTask {
  /** By PP-OCR, whatever the languages' data; absent: by Tesseract. */
  readonly engine?: "ppocr";
  readonly languages: readonly LanguageData[];
  readonly level: "accurate" | "fast";
  /** Words of the languages' dictionaries are preferred. */
  readonly correction: boolean;
}

/** Where the eye goes: to what differs from its surroundings, or to things. */
export const SALIENCY_TYPES = ["attention", "objectness"] as const;
export interface SaliencyTask {
  readonly type: (typeof SALIENCY_TYPES)[number];
  readonly heatMap: boolean;
}

/** What is wanted of each page. */
export interface RecognitionTask {
  readonly text?: TextTask;
  /** Those that the text makes. */
  readonly tables?: true;
  readonly barcodes?: true;
  readonly saliency?: SaliencyTask;
  /** The first of the pages comes as a picture as well, for a model that sees. */
  readonly picture?: true;
  /** Text is that of the sheet of paper alone that a photograph shows. */
  readonly crop?: true;
}

/** Numbers of pages, from 1; without `last` up to the end. */
export interface PageRange {
  readonly first: number;
  readonly last?: number;
}

/** Where a document is that a request is about; `field` is the request's that says so. */
export type DocumentSource =
  | { readonly kind: "path"; readonly path: string; readonly field: string }
  | { readonly kind: "data"; readonly data: string; readonly field: string };

/** A document, and what is wanted of it. */
export interface RecognitionWork {
  /** Of its file. */
  readonly path: string;
  /** The request's field that it came in, for messages. */
  readonly field: string;
  readonly task: RecognitionTask;
  /** The pages that are wanted; absent: all. */
  readonly pages?: readonly PageRange[];
  /** The client counts pages from 0: so do messages. */
  readonly countsFromZero?: true;
  /** More pages than this are refused. */
  readonly maxPages: number;
}

export interface RecognizedLine extends Omit<RecognizedWord, "line"> {
  /** In their order; one where words are not separated. */
  readonly words: readonly Pick<RecognizedWord, "text" | "confidence" | "box">[];
}

export interface Barcode {
  /** Name of the symbology, as `QR`. */
  readonly type: string;
  readonly payload: string;
  readonly box: Box;
}

/** A cell in the place of several. */
export interface MergedCell {
  readonly row: number;
  readonly column: number;
  readonly rowSpan: number;
  readonly columnSpan: number;
}

export interface RecognizedTable {
  readonly box: Box;
  /** Every row has `columnCount` texts; of a merged cell, only the upper left one is not empty. */
  readonly rows: readonly (readonly string[])[];
  readonly columnCount: number;
  /** A name for each column, all different; none when the first row does not look like such. */
  readonly headers: readonly string[];
  /** The rows below the headers, by name. */
  readonly rowObjects: readonly Readonly<Record<string, string>>[];
  readonly mergedCells: readonly MergedCell[];
  /** The mean of its words, from 0 to 1. */
  readonly averageConfidence: number;
  /** RFC 4180. */
  readonly csv: string;
}

/** What a picture shows. */
export interface PictureLabel {
  readonly label: string;
  /** From 0 to 1. */
  readonly confidence: number;
}

export interface Saliency {
  /** What stands out most comes first. */
  readonly regions: readonly Box[];
  /** How much each place does, light for much, as a PNG file. */
  readonly heatMap?: Uint8Array;
}

export interface RecognizedPage {
  /** From 1. */
  readonly number: number;
  /** Of the page, in the unit of all boxes on it: pixels, or points of a PDF (72 an inch). */
  readonly width: number;
  readonly height: number;
  /** `text`: the document has the page's text itself · `recognition`: it was read from its picture. */
  readonly source: "text" | "recognition";
  readonly lines: readonly RecognizedLine[];
  readonly tables: readonly RecognizedTable[];
  readonly barcodes: readonly Barcode[];
  readonly saliency?: Saliency;
  /** A PNG file of at most 1024 pixels a side. */
  readonly picture?: Uint8Array;
  /** What was done to the page and what came of it, for people. */
  readonly notes: readonly string[];
}

/** How far a document has been recognised. */
export interface RecognitionProgress {
  readonly pages: number;
  readonly of: number;
}

/**
 * `accepted`: it waits for its turn · `started`: its first computation begins · `page`: in the order that was wanted, `of` so
 * many · `result`: the last event, with how many pages the whole document has.
 */
export type RecognitionEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started" }
  | { readonly type: "page"; readonly page: RecognizedPage; readonly of: number }
  | { readonly type: "result"; readonly pageCount: number };
