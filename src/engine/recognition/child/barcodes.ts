// Finds barcodes in a picture with ZXing: linear and 2D codes of every symbology, several at a time, in any direction.

import { prepareZXingModule, readBarcodes, type ReaderOptions, type ReadResult } from "zxing-wasm/reader";
import wasm from "zxing-wasm/reader/zxing_reader.wasm" with { type: "file" };
import type { Barcode } from "../../../domain/recognition.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import { around, clipped, holdsMiddle } from "../../../recognition/boxes.ts";
import { components, regions } from "../../../recognition/components.ts";
import { framesIn, type Framed } from "../../../recognition/frames.ts";
import { histogram, inkOf, split } from "../../../recognition/ink.ts";
import { maxiCodePlaces, type MaxiCodePlace } from "../../../recognition/maxicode.ts";
import { crop } from "../../../recognition/resample.ts";
import { turned } from "./grey.ts";
import { limitedModule } from "./wasm-memory.ts";

const UPC_DIGITS = 12;
/** Pixels; smaller parts are neither frames nor rings. */
const SMALLEST_PART = 16;

/** Names that differ from ZXing's; symbologies not listed keep ZXing's name. */
const NAMES: Readonly<Record<string, string>> = {
  QRCode: "QR",
  QRCodeModel1: "QR",
  QRCodeModel2: "QR",
  MicroQRCode: "MicroQR",
  RMQRCode: "RMQR",
  AztecCode: "Aztec",
  AztecRune: "Aztec",
  CompactPDF417: "PDF417",
  Code39Std: "Code39",
  Code39Ext: "Code39FullASCII",
  ITF: "I2of5",
  DataBar: "GS1DataBar",
  DataBarOmni: "GS1DataBar",
  DataBarStk: "GS1DataBar",
  DataBarStkOmni: "GS1DataBar",
  DataBarLtd: "GS1DataBarLimited",
  DataBarExp: "GS1DataBarExpanded",
  DataBarExpStk: "GS1DataBarExpanded",
  ISBN: "EAN13",
  TelepenAlpha: "Telepen",
  TelepenNumeric: "Telepen",
};

/** Returns the codes with correct checksums, from top to bottom. */
export type BarcodeReader = (bitmap: Bitmap) => Promise<Barcode[]>;

export async function loadBarcodeReader(): Promise<BarcodeReader> {
  const { buffer: wasmBinary } = await limitedModule(wasm);
  await prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
  return readCodes;
}

async function readCodes(bitmap: Bitmap): Promise<Barcode[]> {
  const found = (await codesIn(bitmap)).map(barcodeOf);
  const ink = inkOf(bitmap, split(histogram(bitmap)).threshold);
  const parts = components(regions(ink), SMALLEST_PART);
  const framed = await framedCodes(bitmap, framesIn(ink, parts));
  for (const one of [...framed, ...(await maxiCodes(bitmap, maxiCodePlaces(ink, parts)))]) {
    if (!found.some(({ payload, box }) => payload === one.payload && holdsMiddle(one.box, box))) found.push(one);
  }
  return found.toSorted((a, b) => a.box.y - b.box.y || a.box.x - b.box.x);
}

async function codesIn({ width, height, data }: Bitmap, options: ReaderOptions = {}): Promise<ReadResult[]> {
  const rgba = new Uint8ClampedArray(width * height * 4).fill(255);
  data.forEach((grey, at) => {
    rgba[at * 4] = rgba[at * 4 + 1] = rgba[at * 4 + 2] = grey;
  });
  const image = { data: rgba, width, height, colorSpace: "srgb" } as const;
  return readBarcodes(image, { tryHarder: true, tryDenoise: true, textMode: "Plain", ...options });
}

/** Finds 14-digit codes in frames that leave them too little quiet zone. */
async function framedCodes(bitmap: Bitmap, frames: readonly Framed[]): Promise<Barcode[]> {
  const found: Barcode[] = [];
  for (const { frame, strips } of frames) {
    for (const strip of strips) {
      const results = await codesIn(onWhite(crop(bitmap, strip)), { formats: ["ITF"] });
      const codes = results.map(barcodeOf).filter(({ payload }) => isItf14(payload));
      found.push(...codes.map((code) => ({ ...code, box: frame })));
    }
  }
  return found;
}

/** Finds MaxiCodes that are rotated, or not alone on the picture. */
async function maxiCodes(bitmap: Bitmap, places: readonly MaxiCodePlace[]): Promise<Barcode[]> {
  const found: Barcode[] = [];
  for (const { box, orientation } of places) {
    const place = clipped(box, bitmap);
    const results = await codesIn(onWhite(turned(crop(bitmap, place), orientation)), { formats: ["MaxiCode"] });
    found.push(...results.map((result) => ({ ...barcodeOf(result), box: place })));
  }
  return found;
}

/** Surrounds a picture with a white margin as wide as a quiet zone can be. */
function onWhite({ width, height, data }: Bitmap): Bitmap {
  const margin = Math.ceil(Math.max(width, height) / 8);
  const [across, down] = [width + 2 * margin, height + 2 * margin];
  const out = new Uint8Array(across * down).fill(255);
  for (let y = 0; y < height; y++) out.set(data.subarray(y * width, (y + 1) * width), (y + margin) * across + margin);
  return { width: across, height: down, data: out };
}

/** The symbology has no checksum, but these numbers do. */
const isItf14 = (digits: string): boolean =>
  /^\d{14}$/.test(digits) &&
  [...digits].reduce((sum, digit, at) => sum + Number(digit) * (at % 2 === 0 ? 3 : 1), 0) % 10 === 0;

function barcodeOf({ format, text, extra, position }: ReadResult): Barcode {
  const { topLeft, topRight, bottomLeft, bottomRight } = position;
  const corners = [topLeft, topRight, bottomLeft, bottomRight];
  const box = around(corners.map(({ x, y }) => ({ x, y, width: 0, height: 0 })));
  // A UPC-A code is an EAN-13 code that begins with 0, and its text has 12 digits.
  const isUpc = format === "UPCA" || (format === "EAN13" && /^0\d{12}$/.test(text));
  if (isUpc) return { type: "UPCA", payload: text.slice(-UPC_DIGITS), box };
  // Its text is the number that the printed digits stand for.
  if (format === "UPCE") return { type: "UPCE", payload: (JSON.parse(extra) as { readonly UPCE: string }).UPCE, box };
  // The minus is part of the symbology.
  const payload = format === "PZN" ? text.replace(/^-/, "") : text;
  return { type: NAMES[format] ?? format, payload, box };
}
