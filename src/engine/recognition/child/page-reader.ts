// Reads what is wanted of a page, from the text stored in the document or from the page's picture.

import type {
  Barcode,
  RecognitionTask,
  RecognizedPage,
  RecognizedTable,
  RecognizedWord,
  Saliency,
  SaliencyTask,
  TextTask,
} from "../../../domain/recognition.ts";
import { Refusal } from "../../../media/refusal.ts";
import { scaled } from "../../../recognition/boxes.ts";
import { linesOf } from "../../../recognition/lines.ts";
import {
  contentOf,
  pageWithText,
  readablePage,
  tornTables,
  type PageContent,
  type ReadablePage,
} from "../../../recognition/page.ts";
import type { CellWords } from "../../../recognition/tables/ruled.ts";
import { separateCells } from "../../../recognition/tables/separate.ts";
import { withReadAgain } from "../../../recognition/tables/torn.ts";
import type { DocumentFile } from "../protocol.ts";
import type { BarcodeReader } from "./barcodes.ts";
import type { DocumentPage } from "./document.ts";
import type { Documents } from "./documents.ts";
import { pngOf } from "./png.ts";
import type { Ppocr } from "./ppocr.ts";
import { salienceOf } from "./salience.ts";
import type { Tesseract } from "./tesseract.ts";

/** Dots per inch at which pages are drawn. */
const DRAWN = { accurate: 300, fast: 150, rules: 150 } as const;
/** Dots per inch per pixel of letter height, assumed without a known resolution: right for text of a usual size. */
const DOTS_A_LETTER = 8;
/** Longest side, in pixels, of the picture that a model receives. */
const LARGEST_PICTURE = 1024;
/** More words than a page has that is meant to be read. */
const MOST_WORDS = 20_000;
/** Mean confidence of words below which a rotated page is also read as it came: text read upside down scores lower. */
const PLAUSIBLE = 0.6;

interface PageReaderOptions {
  readonly documents: Documents;
  readonly tesseract: Pick<Tesseract, "words" | "blocks">;
  /** Loaded when it is first needed. */
  readonly ppocr?: () => Promise<Pick<Ppocr, "words">>;
  readonly barcodes: () => Promise<BarcodeReader>;
  /** Called between the parts of the work; an error that it throws ends the work. */
  readonly check: () => void;
}

/** In units of the page. */
interface Found extends PageContent {
  readonly source: RecognizedPage["source"];
  readonly notes: readonly string[];
}

const NOTHING: Found = { words: [], tables: [], source: "recognition", notes: [] };

export class PageReader {
  constructor(private readonly options: PageReaderOptions) {}

  /** Returns the number of pages of a document. Throws SvcError, naming its field, when it cannot be read. */
  count(document: DocumentFile): Promise<number> {
    return this.options.documents.count(document);
  }

  /** Frees what is kept of the last document. */
  close(): void {
    this.options.documents.close();
  }

  /** Reads a page, from 1. Throws SvcError, or what `check` throws. */
  read(document: DocumentFile, number: number, task: RecognitionTask): Promise<RecognizedPage> {
    return this.options.documents.read(document, number, async (page) => {
      this.options.check();
      const { width, height } = page;
      const { words, tables, source, notes } = await this.text(page, task);
      return {
        number,
        width,
        height,
        source,
        lines: linesOf(words),
        tables,
        barcodes: task.barcodes ? await this.codes(page) : [],
        ...(task.saliency && { saliency: await this.saliency(page, task.saliency) }),
        ...(task.picture && { picture: await this.picture(page) }),
        notes,
      };
    });
  }

  private async text(page: DocumentPage, task: RecognitionTask): Promise<Found> {
    const { text, tables } = task;
    if (!text) return NOTHING;
    checkCount(page.words);
    const found = page.words.length > 0 ? await this.own(page, tables) : await this.recognized(page, text, task);
    // Parts of a page may have been read again.
    checkCount(found.words);
    return tables ? found : { ...found, tables: [] };
  }

  /** Returns the document's own text. Its tables are found by the lines drawn on the page. */
  private async own({ words, turns, picture }: DocumentPage, tables: true | undefined): Promise<Found> {
    const notes = [`${words.length} words of its own`];
    if (!tables) return { words, tables: [], source: "text", notes };
    const { bitmap, scale } = await picture(DRAWN.rules);
    this.options.check();
    const drawn = words.map((word) => ({ ...word, box: scaled(word.box, scale) }));
    const upright = pageWithText(bitmap, drawn, turns);
    const content = contentOf(upright.page, upright.words);
    return { words, tables: tablesIn(content, 1 / scale), source: "text", notes };
  }

  private async recognized(
    page: DocumentPage,
    task: TextTask,
    { tables, crop }: Pick<RecognitionTask, "tables" | "crop">,
  ): Promise<Found> {
    const { bitmap, scale, ...picture } = await page.picture(DRAWN[task.level]);
    this.options.check();
    const isFast = task.level === "fast";
    const ready = readablePage(bitmap, { crop: crop === true, fast: isFast });
    this.options.check();
    const { width, height } = ready.bitmap;
    const enlarged = enlargementOf(ready);
    // Without a resolution, Tesseract splits lines of large characters.
    const dotsPerInch = picture.dotsPerInch || (DOTS_A_LETTER * ready.letterHeight) / enlarged;
    const readyDots = Math.round(dotsPerInch * enlarged);
    const reader = await this.reader(task);
    const read = await reader.words(ready.bitmap, readyDots, task);
    checkCount(read);
    const words = isFast ? read : await this.readAgain(ready, read, readyDots, task);
    const separate = tables && !isFast ? await this.separate(ready, readyDots, task) : undefined;
    let content = contentOf(ready, words, separate);
    const notes = [
      `${bitmap.width} × ${bitmap.height} pixels`,
      `read as ${width} × ${height}, turned by ${turnOf(ready)}°${ready.cropped ? ", cropped" : ""}`,
      `${words.length} words recognised by ${task.engine ?? "tesseract"}`,
    ];
    const isTurned = Math.abs(turnOf(ready)) > 45;
    // What is around a sheet must not be read.
    if (!isFast && !ready.cropped && isTurned && confidenceOf(words) < PLAUSIBLE) {
      const unturned = await reader.words(bitmap, Math.round(dotsPerInch), task);
      notes.push(`${unturned.length} as it came`);
      if (confidenceOf(unturned) > confidenceOf(words)) content = { words: unturned, tables: [] };
    }
    return {
      words: content.words.map((word) => ({ ...word, box: scaled(word.box, 1 / scale) })),
      tables: tablesIn(content, 1 / scale),
      source: "recognition",
      notes,
    };
  }

  /** Reads the cells of drawn tables one by one. PP-OCR finds each text by itself. */
  private async separate(page: ReadablePage, dotsPerInch: number, task: TextTask): Promise<CellWords> {
    const cells = task.engine === "ppocr" ? [] : separateCells(page);
    if (cells.length === 0) return new Map();
    this.options.check();
    const parts = cells.map(({ inner }) => inner);
    const read = await this.options.tesseract.blocks(page.bitmap, dotsPerInch, task, parts);
    return new Map(cells.flatMap(({ cell }, at) => (read[at]?.length ? [[cell, read[at]] as const] : [])));
  }

  /** Reads tables as lines of text that were read as columns. PP-OCR finds each text by itself. */
  private async readAgain(page: ReadablePage, words: RecognizedWord[], dotsPerInch: number, task: TextTask) {
    const boxes = task.engine === "ppocr" ? [] : tornTables(page, words);
    if (boxes.length === 0) return words;
    this.options.check();
    const again = await this.options.tesseract.blocks(page.bitmap, dotsPerInch, task, boxes);
    return withReadAgain(words, boxes, again);
  }

  private async reader({ engine }: TextTask): Promise<Pick<Tesseract, "words">> {
    const { tesseract, ppocr } = this.options;
    if (engine !== "ppocr") return tesseract;
    if (!ppocr) throw new Error("PP-OCR was not given");
    return ppocr();
  }

  private async codes(page: DocumentPage): Promise<Barcode[]> {
    const { bitmap, scale } = await page.picture(DRAWN.accurate);
    this.options.check();
    const barcodes = await (await this.options.barcodes())(bitmap);
    return barcodes.map((barcode) => ({ ...barcode, box: scaled(barcode.box, 1 / scale) }));
  }

  private async picture(page: DocumentPage): Promise<Uint8Array> {
    const { channels } = await page.picture(DRAWN.fast);
    this.options.check();
    return pngOf(channels(), LARGEST_PICTURE);
  }

  private async saliency(page: DocumentPage, task: SaliencyTask): Promise<Saliency> {
    const { channels, scale } = await page.picture(DRAWN.fast);
    this.options.check();
    const { regions, ...map } = await salienceOf(channels(), task);
    return { regions: regions.map((box) => scaled(box, 1 / scale)), ...map };
  }
}

function checkCount({ length }: readonly RecognizedWord[]): void {
  if (length > MOST_WORDS) throw new Refusal(`have pages of at most ${MOST_WORDS} words`, `one of ${length}`);
}

const tablesIn = ({ tables }: PageContent, by: number): RecognizedTable[] =>
  tables.map((table) => ({ ...table, box: scaled(table.box, by) }));

/** Returns the factor by which the prepared page is larger than the original. */
function enlargementOf({ toOriginal: [a, b, , d, e] }: ReadablePage): number {
  const area = Math.abs(a * e - b * d);
  return area > 0 ? 1 / Math.sqrt(area) : 1;
}

/** Returns how far the original page was turned clockwise, in degrees. */
const turnOf = ({ toOriginal: [a, , , d] }: ReadablePage): number => Math.round((Math.atan2(d, a) * 180) / Math.PI);

const confidenceOf = (words: readonly RecognizedWord[]): number =>
  words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, words.length);
