// A page: what of it is wanted, found in its own text or in its picture.

import type { Barcode, RecognitionTask, RecognizedPage, TextTask } from "../../../domain/recognition.ts";
import type { Box, RecognizedWord } from "../../../recognition/bitmap.ts";
import { linesOf } from "../../../recognition/lines.ts";
import type { BarcodeReader } from "./barcodes.ts";
import type { DocumentPage } from "./document.ts";
import type { Documents } from "./documents.ts";
import type { Tesseract } from "./tesseract.ts";

/** Dots an inch at which pages are drawn for recognition. */
const DRAWN: Readonly<Record<TextTask["level"], number>> = { accurate: 300, fast: 150 };

export interface PageReaderOptions {
  readonly documents: Documents;
  readonly tesseract: Pick<Tesseract, "words">;
  /** Loaded when it is needed first. */
  readonly barcodes: () => Promise<Pick<BarcodeReader, "read">>;
  /** Called between the parts of the work; what it throws ends it. */
  readonly check: () => void;
}

export class PageReader {
  constructor(private readonly options: PageReaderOptions) {}

  /** Pages of a document. Throws SvcError naming `field` where it is none. */
  count(path: string, field: string): Promise<number> {
    return this.options.documents.count(path, field);
  }

  /** Reads a page, from 1. Throws SvcError, or what `check` throws. */
  read(path: string, field: string, number: number, task: RecognitionTask): Promise<RecognizedPage> {
    return this.options.documents.read(path, field, number, async (page) => {
      this.options.check();
      const { width, height } = page;
      const { words, source, notes } = task.text ? await this.text(page, task.text) : NOTHING;
      const barcodes = task.barcodes ? await this.codes(page) : [];
      return { number, width, height, source, lines: linesOf(words), tables: [], barcodes, notes };
    });
  }

  private async codes(page: DocumentPage): Promise<Barcode[]> {
    const { bitmap, scale } = await page.picture(DRAWN.accurate);
    this.options.check();
    const barcodes = await (await this.options.barcodes()).read(bitmap);
    return barcodes.map((barcode) => ({ ...barcode, box: scaled(barcode.box, 1 / scale) }));
  }

  private async text(page: DocumentPage, task: TextTask): Promise<Found> {
    if (page.words.length > 0)
      return { words: page.words, source: "text", notes: [`${page.words.length} words of its own`] };
    const { bitmap, dotsPerInch, scale } = await page.picture(DRAWN[task.level]);
    this.options.check();
    const words = await this.options.tesseract.words(bitmap, dotsPerInch, task);
    const notes = [`${bitmap.width} × ${bitmap.height} pixels`, `${words.length} words recognised`];
    return {
      words: words.map((word) => ({ ...word, box: scaled(word.box, 1 / scale) })),
      source: "recognition",
      notes,
    };
  }
}

interface Found {
  readonly words: readonly RecognizedWord[];
  readonly source: RecognizedPage["source"];
  readonly notes: readonly string[];
}

const NOTHING: Found = { words: [], source: "recognition", notes: [] };

const scaled = ({ x, y, width, height }: Box, by: number): Box => ({
  x: x * by,
  y: y * by,
  width: width * by,
  height: height * by,
});
