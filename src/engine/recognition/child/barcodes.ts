// Finds barcodes in a picture with ZXing: linear and 2D codes of every symbology, several at a time, in any direction.

import { prepareZXingModule, readBarcodes, type ReaderOptions, type ReadResult } from "zxing-wasm/reader";
import wasm from "zxing-wasm/reader/zxing_reader.wasm" with { type: "file" };
import type { Barcode, Box } from "../../../domain/recognition.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import { clipped, holdsMiddle } from "../../../recognition/boxes.ts";
import { framesIn } from "../../../recognition/frames.ts";
import { maxiCodePlaces } from "../../../recognition/maxicode.ts";
import { crop } from "../../../recognition/resample.ts";
import { turned } from "./grey.ts";
import { limitedModule } from "./wasm-memory.ts";

const UPC_DIGITS = 12;

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
  for (const one of [...(await framedCodes(bitmap)), ...(await maxiCodes(bitmap))]) {
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
  const results = await readBarcodes(image, { tryHarder: true, tryDenoise: true, textMode: "Plain", ...options });
  return results.filter(({ isValid }) => isValid);
}

/** Finds 14-digit codes in frames that leave them too little quiet zone. */
async function framedCodes(bitmap: Bitmap): Promise<Barcode[]> {
  const found: Barcode[] = [];
  for (const { frame, strips } of framesIn(bitmap)) {
    for (const strip of strips) {
      const results = await codesIn(onWhite(crop(bitmap, strip)), { formats: ["ITF"] });
      const codes = results.map(barcodeOf).filter(({ payload }) => isItf14(payload));
      found.push(...codes.map((code) => ({ ...code, box: frame })));
    }
  }
  return found;
}

/** Finds MaxiCodes that are rotated, or not alone on the picture. */
async function maxiCodes(bitmap: Bitmap): Promise<Barcode[]> {
  const found: Barcode[] = [];
  for (const { box, orientation } of maxiCodePlaces(bitmap)) {
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

function barcodeOf({ format, text, position }: ReadResult): Barcode {
  const { topLeft, topRight, bottomLeft, bottomRight } = position;
  const box = boxAround([topLeft, topRight, bottomLeft, bottomRight]);
  // A UPC-A code is an EAN-13 code that begins with 0, and its text has 12 digits.
  const isUpc = format === "UPCA" || (format === "EAN13" && /^0\d{12}$/.test(text));
  if (isUpc) return { type: "UPCA", payload: text.slice(-UPC_DIGITS), box };
  if (format === "UPCE") return { type: "UPCE", payload: shortened(text.slice(-UPC_DIGITS)), box };
  // The minus is part of the symbology.
  const payload = format === "PZN" ? text.replace(/^-/, "") : text;
  return { type: NAMES[format] ?? format, payload, box };
}

/** How UPC-E shortens a UPC-A code: six digits stand between the number system and the check digit. */
const SHORT: readonly (readonly [long: RegExp, short: string])[] = [
  [/^(\d)(\d\d)([012])0000(\d{3})(\d)$/, "$1$2$4$3$5"],
  [/^(\d)(\d{3})00000(?<tail>\d\d)(?<check>\d)$/, "$1$2$<tail>3$<check>"],
  [/^(\d)(\d{4})00000(?<tail>\d)(?<check>\d)$/, "$1$2$<tail>4$<check>"],
  [/^(\d)(\d{5})0000([5-9])(\d)$/, "$1$2$3$4"],
];

/** Shortens a 12-digit UPC-A code to the 8 digits of UPC-E. */
function shortened(upca: string): string {
  const [long, short] = SHORT.find(([pattern]) => pattern.test(upca)) ?? [];
  return long && short !== undefined ? upca.replace(long, short) : upca;
}

function boxAround(points: readonly { readonly x: number; readonly y: number }[]): Box {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}
