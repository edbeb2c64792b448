// Requests and results for recognition: text, tables, barcodes and more on the pages of images and documents.

/** A rectangle in pixels; the origin is the top left corner of the page. */
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
  /** Index of the word's line on the page, and of the block of lines, both from 0. */
  readonly line: number;
  readonly block: number;
}

/**
 * What to recognise in an image. `text`: text · `table`: tables · `barcode`: barcodes · `classify`: labels of what the
 * image shows · `saliency`: where viewers look first · `auto`: all text, barcodes and labels that there are · `debug`:
 * text, and how it was found.
 */
export const RECOGNITION_MODES = ["text", "table", "barcode", "classify", "saliency", "auto", "debug"] as const;
export type RecognitionMode = (typeof RECOGNITION_MODES)[number];

/** Most pages of a document that one request may recognise. */
export const MOST_PAGES = 1000;

/** A file with trained data for a language or a script. */
export interface LanguageData {
  /** Tesseract's name for it: eng, chi_sim. */
  readonly name: string;
  readonly path: string;
}

/** `own`: languages that PP-OCR reads better than Tesseract; `beside`: further ones that it reads on such pages. */
export const PPOCR_LANGUAGES = { own: ["chi_sim", "chi_tra", "jpn"], beside: ["eng"] } as const;

/** How to recognise text, with languages as clients name them; an empty list means the default language. */
export interface TextWish {
  readonly languages: readonly string[];
  /** The request's field that names the languages, for messages. */
  readonly field?: string;
  readonly level: "accurate" | "fast";
  /** Whether words of the languages' dictionaries are preferred. */
  readonly correction: boolean;
}

/** How text is recognised. */
export interface TextTask extends Pick<TextWish, "level" | "correction"> {
  /** PP-OCR, which ignores `languages`; absent: Tesseract. */
  readonly engine?: "ppocr";
  readonly languages: readonly LanguageData[];
}

/** `attention`: what differs from its surroundings · `objectness`: objects. */
export const SALIENCY_TYPES = ["attention", "objectness"] as const;
export interface SaliencyTask {
  readonly type: (typeof SALIENCY_TYPES)[number];
  readonly heatMap: boolean;
}

/** What to recognise on each page. */
export interface RecognitionTask<Text = TextTask> {
  readonly text?: Text;
  /** Tables, found from the layout of the text. */
  readonly tables?: true;
  readonly barcodes?: true;
  readonly saliency?: SaliencyTask;
  /** Set if the first page must also be returned as an image, for a vision model. */
  readonly picture?: true;
  /** Set if only the text on the sheet of paper in a photograph counts. */
  readonly crop?: true;
}

/** Page numbers from 1; without `last`, up to the end. */
export interface PageRange {
  readonly first: number;
  readonly last?: number;
}

/** A document, and what to recognise in it. */
export interface RecognitionWork<Text = TextTask> {
  /** Path of the file. */
  readonly path: string;
  /** The request field of the document, for error messages. */
  readonly field: string;
  readonly task: RecognitionTask<Text>;
  /** The requested pages; absent: all. */
  readonly pages?: readonly PageRange[];
  /** Set if the client counts pages from 0, so that error messages do too. */
  readonly countsFromZero?: true;
  /** Maximum number of pages; more are refused. */
  readonly maxPages: number;
}

export interface RecognizedLine extends Omit<RecognizedWord, "line"> {
  /** The words in order; one word if the script does not separate words. */
  readonly words: readonly Pick<RecognizedWord, "text" | "confidence" | "box">[];
}

export interface Barcode {
  /** Name of the symbology, such as `QR`. */
  readonly type: string;
  readonly payload: string;
  readonly box: Box;
}

/** A cell that spans several rows or columns. */
export interface MergedCell {
  readonly row: number;
  readonly column: number;
  readonly rowSpan: number;
  readonly columnSpan: number;
}

export interface RecognizedTable {
  readonly box: Box;
  /** Every row has `columnCount` texts. Of a merged cell, only the text at the top left is not empty. */
  readonly rows: readonly (readonly string[])[];
  readonly columnCount: number;
  /** A unique name for each column; empty if the first row does not look like headers. */
  readonly headers: readonly string[];
  /** The rows below the headers, as objects keyed by header. */
  readonly rowObjects: readonly Readonly<Record<string, string>>[];
  readonly mergedCells: readonly MergedCell[];
  /** Mean confidence of the table's words, 0 to 1. */
  readonly averageConfidence: number;
  /** The table as CSV (RFC 4180). */
  readonly csv: string;
}

/** Something that an image shows. */
export interface PictureLabel {
  readonly label: string;
  /** From 0 to 1. */
  readonly confidence: number;
}

export interface Saliency {
  /** Regions, the most salient first. */
  readonly regions: readonly Box[];
  /** Saliency of each place as a PNG file; light means high. */
  readonly heatMap?: Uint8Array;
}

export interface RecognizedPage {
  /** Page number from 1. */
  readonly number: number;
  /** Size of the page, in the unit of all boxes on it: pixels, or PDF points (72 per inch). */
  readonly width: number;
  readonly height: number;
  /** `text`: the document contains the page's text · `recognition`: the text was recognised in the page's image. */
  readonly source: "text" | "recognition";
  readonly lines: readonly RecognizedLine[];
  readonly tables: readonly RecognizedTable[];
  readonly barcodes: readonly Barcode[];
  readonly saliency?: Saliency;
  /** The page as a PNG file of at most 1024 pixels per side. */
  readonly picture?: Uint8Array;
  /** The processing steps of the page and their outcome, as text for people. */
  readonly notes: readonly string[];
}

/**
 * `accepted`: the request is queued · `started`: its first computation begins · `page`: a page, in the requested order;
 * `of`: number of requested pages · `result`: the last event; `pageCount`: number of pages of the whole document.
 */
export type RecognitionEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started" }
  | { readonly type: "page"; readonly page: RecognizedPage; readonly of: number }
  | { readonly type: "result"; readonly pageCount: number };
