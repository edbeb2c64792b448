// PDF documents: each page with its stored text, or drawn so that its picture can be read.

import { fieldError } from "../../../domain/errors.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import { numberFor, type DocumentFile } from "../protocol.ts";
import type { DocumentPage, OpenDocument } from "./document.ts";
import { imageShare } from "./image-share.ts";
import { LONGEST_SIDE, unreadable } from "./limits.ts";
import { readPageText, type PageGeometry } from "./pdf-text.ts";
import type { Pdfium } from "./pdfium.ts";

const POINTS_AN_INCH = 72;
const GREY = 1;
/** Draws annotations, and everything in grey. */
const FLAGS = 0x01 | 0x08;
const WHITE = 0xffffffff;
/**
 * A page is read as a picture when images cover more than this share of it and its text has fewer characters, or a
 * smaller share of the images' area: a scan with a number, stamp or line printed on it by a court or signature service.
 */
const SCAN = { imageShare: 0.3, characters: 50, textShare: 0.02 };
/** Annotations that are not visible themselves: links, and the pop-up windows of comments. */
const UNSEEN: readonly number[] = [2, 16];
/** FPDFPage_Flatten: flatten as shown on a screen; the result when it did. */
const [FLAT_ON_SCREEN, FLATTENED] = [0, 1];
/** Share of unknown characters above which text is not what is seen: its font has no table of characters. */
const MEANINGLESS = 0.2;

/** Throws SvcError about a document that is encrypted, and Refusal of one that is damaged or has no pages. */
export function openPdf(pdfium: Pdfium, bytes: Uint8Array, file: Omit<DocumentFile, "id" | "path">): OpenDocument {
  const { functions } = pdfium;
  const content = pdfium.allocate(bytes.length);
  functions.HEAPU8.set(bytes, content);
  const document = functions._FPDF_LoadMemDocument(content, bytes.length, 0);
  if (document === 0) {
    const failure = pdfium.failure();
    pdfium.free(content);
    if (failure === "damaged") throw unreadable("a damaged PDF document");
    const sentence = "must be a document without a password; got an encrypted PDF document";
    throw fieldError("unsupported_media_input", file.field, sentence);
  }
  const pageCount = functions._FPDF_GetPageCount(document);
  if (pageCount === 0) {
    functions._FPDF_CloseDocument(document);
    pdfium.free(content);
    throw unreadable("a PDF document without pages");
  }
  let open = 0;
  const closePage = () => {
    if (open !== 0) functions._FPDF_ClosePage(open);
    open = 0;
  };
  return {
    pageCount,
    async page(number) {
      closePage();
      open = functions._FPDF_LoadPage(document, number - 1);
      if (open !== 0 && flatten(pdfium, open)) {
        // The flattened content is visible only once the page is loaded again.
        closePage();
        open = functions._FPDF_LoadPage(document, number - 1);
      }
      if (open === 0) throw unreadable(`a PDF document whose page ${numberFor(file, number)} is damaged`);
      const [width, height] = [functions._FPDF_GetPageWidthF(open), functions._FPDF_GetPageHeightF(open)];
      if (!(width > 0 && height > 0))
        throw unreadable(`a PDF document whose page ${numberFor(file, number)} has no size`);
      return pageOf(pdfium, { page: open, width, height });
    },
    close() {
      closePage();
      functions._FPDF_CloseDocument(document);
      pdfium.free(content);
    },
  };
}

/** Makes form entries and visible comments part of the page. Returns whether there were any. */
function flatten(pdfium: Pdfium, page: number): boolean {
  const { functions } = pdfium;
  const isSeen = (index: number) => {
    const annotation = functions._FPDFPage_GetAnnot(page, index);
    const subtype = functions._FPDFAnnot_GetSubtype(annotation);
    functions._FPDFPage_CloseAnnot(annotation);
    return !UNSEEN.includes(subtype);
  };
  const count = functions._FPDFPage_GetAnnotCount(page);
  let index = 0;
  while (index < count && !isSeen(index)) index++;
  if (index >= count) return false;
  // Annotations without an appearance get one when the page is drawn, in whatever size.
  draw(pdfium, { page, width: 1, height: 1 }, 1);
  // A page that inherits its size would otherwise change it.
  pdfium.within(16, (rectangle) => {
    functions._FPDF_GetPageBoundingBox(page, rectangle);
    const [left = 0, top = 0, right = 0, bottom = 0] = pdfium.floats(rectangle, 4);
    functions._FPDFPage_SetMediaBox(page, left, bottom, right, top);
  });
  return functions._FPDFPage_Flatten(page, FLAT_ON_SCREEN) === FLATTENED;
}

function pageOf(pdfium: Pdfium, geometry: PageGeometry): DocumentPage {
  const { width, height } = geometry;
  return {
    width,
    height,
    ...ownText(pdfium, geometry),
    async picture(dotsPerInch) {
      const scale = Math.min(dotsPerInch / POINTS_AN_INCH, LONGEST_SIDE / Math.max(width, height));
      const bitmap = draw(pdfium, geometry, scale);
      return { bitmap, dotsPerInch: Math.round(scale * POINTS_AN_INCH), scale, channels: () => [bitmap] };
    },
  };
}

/** Returns the page's text, or nothing where it does not match what is seen. */
function ownText(pdfium: Pdfium, geometry: PageGeometry): Pick<DocumentPage, "words" | "turns"> {
  const nothing = { words: [] };
  const { unknownShare, ...own } = readPageText(pdfium, geometry);
  const { words } = own;
  if (unknownShare > MEANINGLESS) return nothing;
  const characters = words.reduce((sum, { text }) => sum + text.length, 0);
  const textArea = words.reduce((sum, { box }) => sum + box.width * box.height, 0);
  const textShare = textArea / (geometry.width * geometry.height);
  if (characters >= SCAN.characters && textShare > SCAN.textShare) return own;
  const share = imageShare(pdfium, geometry.page);
  const isScan = share > SCAN.imageShare && (characters < SCAN.characters || textShare < SCAN.textShare * share);
  return isScan ? nothing : own;
}

function draw(pdfium: Pdfium, { page, width, height }: PageGeometry, scale: number): Bitmap {
  const { functions } = pdfium;
  const across = Math.max(1, Math.floor(width * scale));
  const down = Math.max(1, Math.floor(height * scale));
  return pdfium.within(across * down, (pixels) => {
    const bitmap = functions._FPDFBitmap_CreateEx(across, down, GREY, pixels, across);
    if (bitmap === 0) throw new Error("PDFium makes no bitmap");
    try {
      functions._FPDFBitmap_FillRect(bitmap, 0, 0, across, down, WHITE);
      functions._FPDF_RenderPageBitmap(bitmap, page, 0, 0, across, down, 0, FLAGS);
      return { width: across, height: down, data: functions.HEAPU8.slice(pixels, pixels + across * down) };
    } finally {
      functions._FPDFBitmap_Destroy(bitmap);
    }
  });
}
