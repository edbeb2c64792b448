// What a recognition engine is started with, and the pages that its process is sent one by one: a document that is computed
// page by page loses no more than a page with its process, and takes turns with others.

import type { RecognitionTask, RecognitionWork, RecognizedPage } from "../../domain/recognition.ts";
import type { FromEngine } from "../process/protocol.ts";

/** PP-OCR's files: nets that find lines, tell which are upside down and read them, and the characters that these are made of. */
export interface PpocrFiles {
  readonly finder: string;
  readonly director: string;
  readonly reader: string;
  readonly characters: string;
}

export interface RecognizerOptions {
  /** The engine's working directory. */
  readonly libraries: string;
  /** Absent: Tesseract reads all text. */
  readonly ppocr?: PpocrFiles;
}

/** What loading tells: nothing, so far. */
export type RecognizerModel = Readonly<Record<string, never>>;

/** A document that is being read. */
export interface DocumentFile {
  /** Of this reading: what lies at the path may be another file the next time. */
  readonly id: number;
  readonly path: string;
  /** The request's field that the document came in, for messages. */
  readonly field: string;
}

interface DocumentJob {
  readonly document: DocumentFile;
  readonly task: RecognitionTask;
  readonly client?: string | undefined;
}

/** A document's pages are counted, and the first of those that are wanted is read, in one turn. */
export interface OpeningJob extends DocumentJob {
  readonly wanted: Pick<RecognitionWork, "pages" | "countsFromZero" | "maxPages">;
  /** Processes that read it. */
  readonly readers: number;
}

/** Another page is read, from 1. */
export interface NextPageJob extends DocumentJob {
  readonly page: number;
  /** This process gets no other one of the document. */
  readonly isLast: boolean;
}

export type PageJob = OpeningJob | NextPageJob;

/** The last one is `page`, or `counted` where no page is wanted. */
export type PageEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started" }
  /** `wanted`: the pages that are to be read, in their order. */
  | { readonly type: "counted"; readonly pages: number; readonly wanted: readonly number[] }
  | { readonly type: "page"; readonly page: RecognizedPage };

export type FromRecognizer = FromEngine<RecognizerModel, PageEvent>;
