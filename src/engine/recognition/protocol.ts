// Options of a recognition engine, and its jobs: one per page. A document thus loses at most one page when a process
// dies, and takes turns with others.

import type { RecognitionTask, RecognitionWork, RecognizedPage } from "../../domain/recognition.ts";
import type { FromEngine } from "../process/protocol.ts";

/** PP-OCR's files: nets that find lines, tell which are upside down and read them, and the characters that are read. */
export interface PpocrFiles {
  readonly finder: string;
  readonly director: string;
  readonly reader: string;
  readonly characters: string;
}

export interface RecognizerOptions {
  /** Tesseract's native library; absent: WebAssembly. */
  readonly tesseract?: string;
  /** Absent: Tesseract reads all text. */
  readonly ppocr?: PpocrFiles;
}

/** A document that is being read. */
export interface DocumentFile {
  /** Number of this reading: the same path may be another file the next time. */
  readonly id: number;
  readonly path: string;
  /** The request's field with the document, for messages. */
  readonly field: string;
  /** Set if messages count pages from 0. */
  readonly countsFromZero?: true;
}

/** Returns the number that messages have for a page, which is counted from 1. */
export const numberFor = ({ countsFromZero }: Pick<DocumentFile, "countsFromZero">, page: number): number =>
  countsFromZero ? page - 1 : page;

interface DocumentJob {
  readonly document: DocumentFile;
  readonly task: RecognitionTask;
  readonly client?: string | undefined;
}

/** Counts a document's pages and reads the first wanted one, in one turn. */
export interface OpeningJob extends DocumentJob {
  readonly wanted: Pick<RecognitionWork, "pages" | "maxPages">;
  /** How many processes read the document. */
  readonly readers: number;
}

/** Reads another page, counted from 1. */
export interface NextPageJob extends DocumentJob {
  readonly page: number;
  /** Whether this process gets no further page of the document. */
  readonly isLast: boolean;
}

export type PageJob = OpeningJob | NextPageJob;

/** The last event is `page`. */
export type PageEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started" }
  /** `wanted`: the pages to be read, in order. */
  | { readonly type: "counted"; readonly pages: number; readonly wanted: readonly number[] }
  | { readonly type: "page"; readonly page: RecognizedPage };

export type FromRecognizer = FromEngine<undefined, PageEvent>;
