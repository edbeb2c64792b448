// PDF documents: each page with the text that it has itself, or drawn, to be read from its picture.

import { SvcError } from "../../../domain/errors.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import type { DocumentPage, OpenDocument } from "./document.ts";
import { LONGEST_SIDE, unreadable } from "./limits.ts";
import { imageShare, readPageText, type PageGeometry } from "./pdf-text.ts";
import type { Pdfium } from "./pdfium.ts";

const POINTS_AN_INCH = 72;
const GREY = 1;
/** Annotations are drawn, and all in grey. */
const FLAGS = 0x01 | 0x08;
const WHITE = 0xffffffff;
/** A page whose text is as short is read as a picture where an image covers as much of it: a scan with a number or a stamp. */
const SCAN = { characters: 50, imageShare: 0.3 };
/** Text of which so much has no meaning is not what one sees: its font is without a table of characters. */
const MEANINGLESS = 0.2;

/** Throws SvcError about a document that is encrypted or damaged. */
export function openPdf(pdfium: Pdfium, bytes: Uint8Array, field: string): OpenDocument {
  const { functions } = pdfium;
  const content = pdfium.allocate(bytes.length);
  functions.HEAPU8.set(bytes, content);
  const document = functions._FPDF_LoadMemDocument(content, bytes.length, 0);
  if (document === 0) {
    const failure = pdfium.failure();
    pdfium.free(content);
    if (failure === "damaged") throw unreadable(field, "a damaged PDF document");
    const message = `'${field}' must be a document without a password; got an encrypted PDF document.`;
    throw new SvcError("unsupported_media_input", message, { param: field });
  }
  let open = 0;
  const closePage = () => {
    if (open !== 0) functions._FPDF_ClosePage(open);
    open = 0;
  };
  return {
    pageCount: functions._FPDF_GetPageCount(document),
    async page(number) {
      closePage();
      open = functions._FPDF_LoadPage(document, number - 1);
      if (open === 0) throw unreadable(field, `a PDF document whose page ${number} is damaged`);
      const [width, height] = [functions._FPDF_GetPageWidthF(open), functions._FPDF_GetPageHeightF(open)];
      if (!(width > 0 && height > 0)) throw unreadable(field, `a PDF document whose page ${number} has no size`);
      return pageOf(pdfium, { page: open, width, height });
    },
    close() {
      closePage();
      functions._FPDF_CloseDocument(document);
      pdfium.free(content);
    },
  };
}

function pageOf(pdfium: Pdfium, geometry: PageGeometry): DocumentPage {
  const { width, height } = geometry;
  return {
    width,
    height,
    words: ownWords(pdfium, geometry),
    async picture(dotsPerInch) {
      const scale = Math.min(dotsPerInch / POINTS_AN_INCH, LONGEST_SIDE / Math.max(width, height));
      const bitmap = draw(pdfium, geometry, scale);
      return { bitmap, dotsPerInch: Math.round(scale * POINTS_AN_INCH), scale, channels: () => [bitmap] };
    },
  };
}

/** The page's text, where it says what one sees. */
function ownWords(pdfium: Pdfium, geometry: PageGeometry): DocumentPage["words"] {
  const { words, unknownShare } = readPageText(pdfium, geometry);
  if (unknownShare > MEANINGLESS) return [];
  const characters = words.reduce((sum, { text }) => sum + text.length, 0);
  const isScan = characters < SCAN.characters && imageShare(pdfium, geometry) > SCAN.imageShare;
  return isScan ? [] : words;
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
