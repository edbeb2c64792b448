// What a recognition engine is started with, and the pages that its process is sent one by one: a document that is computed
// page by page loses no more than a page with its process, and takes turns with others.

import type { RecognitionTask, RecognizedPage } from "../../domain/recognition.ts";
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

export interface PageJob {
  readonly document: DocumentFile;
  /** From 1, and what is wanted of it; absent: the document's pages are counted. */
  readonly page?: { readonly number: number; readonly task: RecognitionTask; readonly isLast: boolean };
  readonly client?: string;
}

export type PageEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started" }
  | { readonly type: "counted"; readonly pages: number }
  | { readonly type: "page"; readonly page: RecognizedPage };

export type FromRecognizer = FromEngine<RecognizerModel, PageEvent>;
