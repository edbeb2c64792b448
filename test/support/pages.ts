// Builds pages for tests: PDF documents with text in standard fonts, and pictures of those pages.

import { deflateSync } from "node:zlib";
import { openPdf } from "../../src/engine/recognition/child/pdf.ts";
import { Pdfium } from "../../src/engine/recognition/child/pdfium.ts";
import { writeBmp } from "../../src/media/pixels.ts";
import type { Bitmap } from "../../src/recognition/bitmap.ts";

export interface PdfPage {
  readonly lines: readonly string[];
  /** Font size in points. */
  readonly size?: number;
  /** PDF operators that draw before the text. */
  readonly drawing?: string;
  /** Width and height in points; default: A4. */
  readonly paper?: readonly [number, number];
  /** How many right angles a viewer turns the page, clockwise. */
  readonly turns?: number;
}

const A4 = [595, 842] as const;
const MARGIN = 60;

/** Returns a PDF document; `trailer` holds additional entries of the trailer dictionary. */
export function pdfOf(pages: readonly PdfPage[], trailer = ""): Uint8Array<ArrayBuffer> {
  const kids = pages.map((_, at) => `${4 + 2 * at} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
    ...pages.flatMap((page, at) => {
      const { paper = A4, turns = 0 } = page;
      const content = contentOf(page, paper[1]);
      const box = `/MediaBox [0 0 ${paper.join(" ")}] /Rotate ${turns * 90}`;
      return [
        `<< /Type /Page /Parent 2 0 R ${box} /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * at} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  return pdfOfObjects(objects, trailer);
}

/** Returns a PDF document of these objects, numbered from 1. The first object is the catalog. */
export function pdfOfObjects(objects: readonly (string | Uint8Array)[], trailer = ""): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  let at = 0;
  const add = (part: string | Uint8Array) => {
    const bytes = typeof part === "string" ? Buffer.from(part, "latin1") : part;
    parts.push(bytes);
    at += bytes.length;
  };
  add("%PDF-1.4\n");
  const offsets = objects.map((object, index) => {
    const offset = at;
    for (const part of [`${index + 1} 0 obj\n`, object, "\nendobj\n"]) add(part);
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  add(`${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${at}\n%%EOF\n`);
  return new Uint8Array(Buffer.concat(parts));
}

/** Returns a stream object; `dictionary` holds additional entries of its dictionary. */
export function pdfStream(content: Uint8Array, dictionary = ""): Uint8Array<ArrayBuffer> {
  const head = Buffer.from(`<< /Length ${content.length} ${dictionary} >>\nstream\n`);
  return new Uint8Array(Buffer.concat([head, content, Buffer.from("\nendstream")]));
}

/** Returns a document of `pages` pages that each show this picture, as scanners write them. */
export function scanned({ width, height, data }: Bitmap, pages: number): Uint8Array<ArrayBuffer> {
  const kids = Array.from({ length: pages }, (_, n) => `${5 + n} 0 R`).join(" ");
  const image = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8`;
  const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${A4.join(" ")}] /Resources << /XObject << /I 3 0 R >> >> /Contents 4 0 R >>`;
  return pdfOfObjects([
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`,
    pdfStream(deflateSync(data), `${image} /Filter /FlateDecode`),
    pdfStream(Buffer.from(`${A4[0]} 0 0 ${A4[1]} 0 0 cm /I Do`)),
    ...Array.from({ length: pages }, () => page),
  ]);
}

function contentOf({ lines, size = 14, drawing = "" }: PdfPage, height: number): string {
  const shown = lines.map((line) => `(${line.replaceAll(/[()\\]/g, "\\$&")}) Tj T*`).join("\n");
  const text = `BT /F1 ${size} Tf ${size * 1.4} TL ${MARGIN} ${height - MARGIN - size} Td ${shown} ET`;
  return `${drawing}\n${lines.length > 0 ? text : ""}`;
}

let pdfium: Promise<Pdfium> | undefined;

/** Renders the page of a document as a picture of about `dotsPerInch` dots per inch. */
export async function drawn(page: PdfPage, dotsPerInch = 150): Promise<Bitmap> {
  const document = openPdf(await (pdfium ??= Pdfium.load()), pdfOf([page]), { field: "file" });
  try {
    return (await (await document.page(1)).picture(dotsPerInch)).bitmap;
  } finally {
    document.close();
  }
}

/** Returns a picture as a BMP file, which Bun.Image can convert to other formats. */
export async function bmpOf({ width, height, data }: Bitmap): Promise<Uint8Array> {
  const rgb = new Uint8Array(width * height * 3);
  data.forEach((grey, at) => rgb.fill(grey, at * 3, at * 3 + 3));
  return writeBmp({ width, height, rgb }, new AbortController().signal);
}

export async function pngOf(bitmap: Bitmap): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Bun.Image(await bmpOf(bitmap)).png().bytes());
}
