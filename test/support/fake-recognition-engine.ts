// A recognition engine in memory, for tests of everything above its port. It returns pages written by a test.

import { SvcError } from "../../src/domain/errors.ts";
import type {
  Box,
  RecognitionEvent,
  RecognitionWork,
  RecognizedLine,
  RecognizedPage,
} from "../../src/domain/recognition.ts";
import type { ModelStatus } from "../../src/domain/process-status.ts";
import type { RecognitionJob, RecognitionPort } from "../../src/engine/recognition/port.ts";
import { FakeEngine } from "./fake-engine.ts";

/** Returns a line in which each word's width is proportional to its number of letters. */
function lineOf(text: string, confidence: number, box: Box, block: number): RecognizedLine {
  const letter = box.width / text.length;
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({
    text: word,
    confidence,
    box: { ...box, x: box.x + index * letter, width: word.length * letter },
  }));
  return { text, confidence, box, block, words };
}

const first: RecognizedPage = {
  number: 1,
  width: 200,
  height: 100,
  source: "recognition",
  lines: [
    lineOf("Invoice 7", 0.875, { x: 20, y: 10, width: 100, height: 10 }, 0),
    lineOf("of a <b> & so on", 0.5, { x: 20, y: 25, width: 160, height: 10 }, 0),
    lineOf("Sum: 12.50", 1, { x: 20, y: 60, width: 90, height: 10 }, 1),
  ],
  tables: [
    {
      box: { x: 0, y: 20, width: 200, height: 20 },
      rows: [
        ["Name", "Sum"],
        ["a", "12.50"],
      ],
      columnCount: 2,
      headers: ["Name", "Sum"],
      rowObjects: [{ Name: "a", Sum: "12.50" }],
      mergedCells: [{ row: 0, column: 1, rowSpan: 1, columnSpan: 2 }],
      averageConfidence: 0.75,
      csv: "Name,Sum\r\na,12.50\r\n",
    },
  ],
  saliency: { regions: [{ x: 50, y: 25, width: 100, height: 50 }], heatMap: Uint8Array.of(137, 80, 78, 71) },
  barcodes: [{ type: "QR", payload: "https://example.org/", box: { x: 150, y: 50, width: 40, height: 40 } }],
  notes: ["200 × 100 pixels"],
};
const second: RecognizedPage = {
  number: 2,
  width: 595,
  height: 842,
  source: "text",
  lines: [lineOf("The end.", 1, { x: 59.5, y: 84.2, width: 119, height: 12.63 }, 0)],
  tables: [],
  barcodes: [],
  notes: [],
};

/** A grey pixel. */
const PICTURE = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==",
);

export class FakeReader extends FakeEngine implements RecognitionPort {
  /** The requests received, with the content of the document, in order. */
  readonly asked: (RecognitionWork & { readonly content: string; readonly client?: string })[] = [];
  pages: readonly RecognizedPage[] = [first, second];
  /** Thrown instead of accepting a request. */
  refusal: Error | undefined;
  /** How many pages the consumer has taken. */
  told = 0;
  /** Data for languages. */
  readonly tessdata = {
    known: ["deu", "eng"],
    names: (): string[] => this.tessdata.known,
    find: (name: string) => (this.tessdata.known.includes(name) ? { name, path: `/data/${name}` } : undefined),
  };

  status(): ModelStatus {
    return this.plain;
  }

  async *run({ work, client }: RecognitionJob, signal: AbortSignal): AsyncGenerator<RecognitionEvent, void, void> {
    this.state = "ready";
    this.asked.push({ ...work, content: await Bun.file(work.path).text(), ...(client !== undefined && { client }) });
    if (this.refusal) throw this.refusal;
    yield { type: "accepted" };
    yield { type: "started" };
    if (this.pages.length > work.maxPages) {
      throw new SvcError("unprocessable_media", "Too many pages.", { param: "max_pages" });
    }
    for (const [index, page] of this.pages.entries()) {
      const picture = index === 0 && work.task.picture && { picture: PICTURE };
      yield { type: "page", page: { ...page, ...picture }, of: this.pages.length };
      this.told++;
      await this.opened(signal);
    }
    signal.throwIfAborted();
    yield { type: "result", pageCount: this.pages.length };
  }
}
