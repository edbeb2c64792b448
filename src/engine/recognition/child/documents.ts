// Opens documents by their format; keeps the last one open, because its next page often follows.

import { fieldError, SvcError } from "../../../domain/errors.ts";
import { Refusal } from "../../../media/refusal.ts";
import { describeType, documentFormat, type DocumentFormat } from "../../../media/sniff.ts";
import type { DocumentFile } from "../protocol.ts";
import type { DocumentPage, OpenDocument } from "./document.ts";
import { openHeic } from "./heic.ts";
import { unreadable } from "./limits.ts";
import { openPdf } from "./pdf.ts";
import { Pdfium } from "./pdfium.ts";
import { openPicture } from "./picture.ts";
import { openTiff } from "./tiff.ts";
import { Stopped, TooLong } from "./watch.ts";

interface Opened {
  readonly id: number;
  readonly document: OpenDocument;
}

export class Documents {
  private opened: Opened | undefined;
  private pdfium: Pdfium | undefined;

  /** Returns a document's number of pages. Throws SvcError, naming the request's field, when it cannot be read. */
  async count(file: DocumentFile): Promise<number> {
    return this.attempt(file.field, async () => (await this.document(file)).pageCount);
  }

  /** Closes the document that is open. */
  close(): void {
    const { opened } = this;
    this.opened = undefined;
    opened?.document.close();
  }

  /** Opens a page, from 1, for `use` to read; the one before is closed. Throws SvcError, and what `use` throws. */
  async read<T>(file: DocumentFile, number: number, use: (page: DocumentPage) => Promise<T>): Promise<T> {
    return this.attempt(file.field, async () => use(await (await this.document(file)).page(number)));
  }

  private async document(file: DocumentFile): Promise<OpenDocument> {
    const { id, path, field } = file;
    if (this.opened?.id === id) return this.opened.document;
    this.close();
    const bytes = await Bun.file(path).bytes();
    const format = documentFormat(bytes);
    if (!format) {
      const sentence = `must be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image or a PDF document; got ${describeType(bytes)}`;
      throw fieldError("unsupported_media_input", field, sentence);
    }
    this.opened = { id, document: await this.open(format, bytes, file) };
    return this.opened.document;
  }

  private async open(format: DocumentFormat, bytes: Uint8Array, file: DocumentFile): Promise<OpenDocument> {
    if (format === "pdf") return openPdf((this.pdfium ??= await Pdfium.load()), bytes, file);
    if (format === "tiff") return openTiff(bytes);
    return format === "heic" ? openHeic(bytes) : openPicture(bytes);
  }

  /** An unexpected error leaves PDFium in an unknown state, so everything is opened anew. */
  private async attempt<T>(field: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (![Refusal, SvcError, Stopped, TooLong].some((kind) => error instanceof kind))
        this.opened = this.pdfium = undefined;
      const isBroken = error instanceof WebAssembly.RuntimeError;
      const reason = isBroken ? unreadable("a damaged file, or one too large") : error;
      throw reason instanceof Refusal ? fieldError("unprocessable_media", field, reason.message) : reason;
    }
  }
}
