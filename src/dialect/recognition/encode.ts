// Encodes recognised documents as answers of /v1/vision/ocr.

import type {
  FoundAnything,
  FoundBarcodes,
  FoundLabels,
  FoundRegions,
  RecognizedDocuments,
} from "../../contract/recognition.ts";
import { SvcError } from "../../domain/errors.ts";
import { nextTurn } from "../../domain/next-turn.ts";
import type { Box, PictureLabel, RecognizedPage, RecognizedTable } from "../../domain/recognition.ts";
import type { RecognitionCall } from "./decode.ts";
import { hintsOf } from "./hints.ts";
import { pageMarkdown } from "../../text/page-markdown.ts";
import type { NamedSource } from "./sources.ts";

/** A document with everything recognised in it. */
export interface RecognizedDocument {
  readonly name: string;
  readonly type: NamedSource["type"] | "upload";
  readonly pageCount: number;
  readonly pages: readonly RecognizedPage[];
}

type Wire = RecognizedDocuments["documents"][number];
type Listed = "pages" | "text_blocks" | "tables";
/** A document whose pages are encoded only when they are written: a thousand may have half a million words. */
type Encoded = Omit<Wire, Listed> & { readonly [List in Listed]: Iterable<Wire[List][number]> };
type Origin = RecognitionCall["origin"];
type Reported = Pick<RecognitionCall, "origin" | "words">;

/** Returns the text of a page: its lines, with an empty line between blocks. */
function pageText({ lines }: Pick<RecognizedPage, "lines">): string {
  return lines
    .map(({ text, block }, at) => (at === 0 ? text : `${lines[at - 1]?.block === block ? "\n" : "\n\n"}${text}`))
    .join("");
}

/** Returns the texts of all documents. */
export const combinedText = (documents: readonly RecognizedDocument[]): string =>
  documents.map(documentText).filter(Boolean).join("\n\n");

/** Returns all documents as Markdown, with tables. */
export async function combinedMarkdown(documents: readonly RecognizedDocument[]): Promise<string> {
  const texts: string[] = [];
  for (const page of documents.flatMap(({ pages }) => pages)) {
    texts.push(pageMarkdown(page));
    await nextTurn();
  }
  return texts.filter(Boolean).join("\n\n");
}

const documentText = ({ pages }: RecognizedDocument): string => pages.map(pageText).filter(Boolean).join("\n\n");

/** Throws SvcError `no_text`, or `no_tables` in mode `table`, when no document has any. */
export function encodeDocuments(
  documents: readonly RecognizedDocument[],
  mode: "text" | "table" | "debug",
  call: Pick<RecognitionCall, "origin" | "words" | "debug">,
): Omit<RecognizedDocuments, "documents"> & { readonly documents: readonly Encoded[] } {
  const pages = documents.flatMap((document) => document.pages);
  // Words that were found only when cells were read one by one are in tables, but in no line.
  if (pages.every(({ lines, tables }) => lines.length === 0 && tables.length === 0)) {
    throw new SvcError("no_text", "There is no text that could be recognised.");
  }
  if (mode === "table" && pages.every(({ tables }) => tables.length === 0)) {
    throw new SvcError("no_tables", "There is no table that could be recognised.");
  }
  const encoded = documents.map((document) => encodeDocument(document, call));
  return {
    object: "vision.ocr",
    mode,
    documents: encoded,
    combined_text: combinedText(documents),
    document_hints: [...new Set(encoded.flatMap(({ document_hints }) => document_hints))],
    ...(call.debug && { debug_output: documents.map(debugOutput).join("\n") }),
  };
}

function encodeDocument(document: RecognizedDocument, call: Reported): Encoded {
  const text = documentText(document);
  const pages = () => document.pages.values();
  return {
    file: document.name,
    source_type: document.type,
    text,
    full_text: document.pages.map((page) => `Page ${page.number}\n${pageText(page)}`).join("\n\n"),
    page_count: document.pageCount,
    document_hints: hintsOf(document.pages, text),
    pages: pages().map((page) => encodePage(page, call)),
    text_blocks: pages().flatMap((page) => encodeLines(page, call)),
    tables: pages().flatMap((page) => encodeTables(page, call)),
  };
}

function encodePage(page: RecognizedPage, call: Reported): Wire["pages"][number] {
  const { number, width, height, source } = page;
  return {
    page_number: number,
    text: pageText(page),
    width,
    height,
    source,
    text_blocks: encodeLines(page, call),
    tables: encodeTables(page, call),
  };
}

const encodeLines = (page: RecognizedPage, { origin, words: hasWords }: Reported): Wire["text_blocks"] =>
  page.lines.map(({ text, confidence, box, block, words }) => ({
    text,
    confidence: rounded(confidence),
    page_number: page.number,
    bounding_box: share(box, page, origin),
    block,
    ...(hasWords && {
      words: words.map((word) => ({
        text: word.text,
        confidence: rounded(word.confidence),
        bounding_box: share(word.box, page, origin),
      })),
    }),
  }));

const encodeTables = (page: RecognizedPage, { origin }: Reported): Wire["tables"] =>
  page.tables.map((table) => encodeTable(table, page, origin));

function encodeTable(table: RecognizedTable, page: RecognizedPage, origin: Origin): Wire["tables"][number] {
  const { box, rows, columnCount, headers, rowObjects, mergedCells, averageConfidence, csv } = table;
  return {
    page_number: page.number,
    rows: rows.map((row) => [...row]),
    headers: [...headers],
    row_objects: rowObjects.map((row) => ({ ...row })),
    column_count: columnCount,
    average_confidence: rounded(averageConfidence),
    merged_cell_hints: mergedCells.map(
      ({ row, column, rowSpan, columnSpan }) =>
        `row ${row + 1}, column ${column + 1}: ${rowSpan} × ${columnSpan} cells`,
    ),
    bounding_box: share(box, page, origin),
    csv_data: csv,
  };
}

/** Encodes the barcodes of all pages. */
export function encodeBarcodes(
  documents: readonly RecognizedDocument[],
  { origin }: Pick<RecognitionCall, "origin">,
): FoundBarcodes {
  const results = documents.flatMap(({ pages }) =>
    pages.flatMap((page) =>
      page.barcodes.map(({ type, payload, box }) => ({
        type,
        payload,
        bounding_box: share(box, page, origin),
        // Checksums verify every code that was read, so it is certain.
        confidence: 1,
        page_number: page.number,
      })),
    ),
  );
  return { object: "vision.ocr", mode: "barcode", results };
}

/** Encodes the salient regions of all pages, with the heat map of the first page. */
export function encodeRegions(
  documents: readonly RecognizedDocument[],
  { origin, task }: Pick<RecognitionCall, "origin" | "task">,
): FoundRegions {
  const pages = documents.flatMap((document) => document.pages);
  const regions = pages.flatMap((page) =>
    (page.saliency?.regions ?? []).map((box) => ({
      type: task.saliency?.type ?? "attention",
      bounding_box: share(box, page, origin),
      page_number: page.number,
    })),
  );
  const map = pages[0]?.saliency?.heatMap;
  return { object: "vision.ocr", mode: "saliency", regions, heat_map: map?.toBase64() ?? null };
}

/** Encodes labels for what pictures show, with their salient regions. */
export function encodeLabels(
  documents: readonly RecognizedDocument[],
  labels: readonly PictureLabel[],
  { origin }: Pick<RecognitionCall, "origin">,
): FoundLabels {
  const pages = documents.flatMap((document) => document.pages);
  return {
    object: "vision.ocr",
    mode: "classify",
    labels: labels.map(encodeLabel),
    salient_regions: pages.flatMap((page) =>
      (page.saliency?.regions ?? []).map((box) => ({
        type: "attention" as const,
        bounding_box: share(box, page, origin),
      })),
    ),
  };
}

const encodeLabel = ({ label, confidence }: PictureLabel) => ({ label, confidence: rounded(confidence) });

/** Encodes the text, codes and labels found; `labels` is undefined without a model for them. */
export function encodeAnything(
  documents: readonly RecognizedDocument[],
  call: Pick<RecognitionCall, "origin">,
  labels: readonly PictureLabel[] | undefined,
): FoundAnything {
  const text = combinedText(documents);
  const { results } = encodeBarcodes(documents, call);
  return {
    object: "vision.ocr",
    mode: "auto",
    modes_run: ["text", "barcode", ...(labels ? (["classify"] as const) : [])],
    ...(text !== "" && { text }),
    ...(results.length > 0 && { barcodes: results }),
    ...(labels && labels.length > 0 && { labels: labels.map(encodeLabel) }),
  };
}

function debugOutput({ name, pages }: RecognizedDocument): string {
  const sections = pages.map((page) => {
    const { number, source, lines, notes } = page;
    const head = `page ${number} (${source}): ${[...notes, `${lines.length} lines`].join(", ")}`;
    const each = lines.map(({ text, confidence, box: { x, y, width, height } }) => {
      const place = [x, y, width, height].map(Math.round).join(" ");
      return `  ${confidence.toFixed(3)} [${place}] ${text}`;
    });
    return [head, ...each].join("\n");
  });
  return [name, ...sections].join("\n");
}

/** Converts the part of a rectangle that is on its page to shares of the page. */
function share({ x, y, width, height }: Box, page: RecognizedPage, origin: Origin) {
  const [left, right] = [within(x / page.width), within((x + width) / page.width)];
  const [top, bottom] = [within(y / page.height), within((y + height) / page.height)];
  return {
    x: rounded(left),
    y: rounded(origin === "top-left" ? top : 1 - bottom),
    width: rounded(right - left),
    height: rounded(bottom - top),
  };
}

const within = (value: number): number => Math.min(1, Math.max(0, value));

/** Four digits: a pixel of the largest page is twice as much. */
const rounded = (value: number): number => Math.round(within(value) * 10_000) / 10_000;
