// Codes in pictures, by the real ZXing; its writer, which is no part of the program, draws them.

import { beforeAll, describe, expect, test } from "bun:test";
import { prepareZXingModule, writeBarcode, type WriteInputBarcodeFormat } from "zxing-wasm/writer";
import wasm from "zxing-wasm/writer/zxing_writer.wasm" with { type: "file" };
import { BarcodeReader } from "../../../src/engine/recognition/child/barcodes.ts";
import type { Bitmap } from "../../../src/recognition/bitmap.ts";

const SCALE = 4;
const MARGIN = 40;
let reader: BarcodeReader;

beforeAll(async () => {
  prepareZXingModule({ overrides: { wasmBinary: await Bun.file(wasm).arrayBuffer() } });
  reader = await BarcodeReader.load();
});

async function draw(format: WriteInputBarcodeFormat, text: string): Promise<Bitmap> {
  const { symbol, error } = await writeBarcode(text, { format });
  expect([format, error]).toEqual([format, ""]);
  const width = symbol.width * SCALE + 2 * MARGIN;
  const height = symbol.height * SCALE + 2 * MARGIN;
  const data = new Uint8Array(width * height).fill(255);
  for (let y = 0; y < symbol.height * SCALE; y++) {
    for (let x = 0; x < symbol.width * SCALE; x++) {
      const module = symbol.data[Math.floor(y / SCALE) * symbol.width + Math.floor(x / SCALE)] as number;
      data[(y + MARGIN) * width + x + MARGIN] = module;
    }
  }
  return { width, height, data };
}

/** Turned clockwise by right angles. */
function turned({ width, height, data }: Bitmap, times: number): Bitmap {
  if (times === 0) return { width, height, data };
  const result = new Uint8Array(data.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) result[x * height + height - 1 - y] = data[y * width + x] as number;
  }
  return turned({ width: height, height: width, data: result }, times - 1);
}

function below(upper: Bitmap, lower: Bitmap): Bitmap {
  const width = Math.max(upper.width, lower.width);
  const data = new Uint8Array(width * (upper.height + lower.height)).fill(255);
  for (const [{ width: own, height, data: pixels }, from] of [[upper, 0] as const, [lower, upper.height] as const]) {
    for (let y = 0; y < height; y++) data.set(pixels.subarray(y * own, (y + 1) * own), (from + y) * width);
  }
  return { width, height: upper.height + lower.height, data };
}

const found = async (bitmap: Bitmap) => (await reader.read(bitmap)).map(({ type, payload }) => [type, payload]);

/** What is written, and what is read where that is not the same. */
const SYMBOLOGIES: readonly (readonly [WriteInputBarcodeFormat, text: string, type: string, payload?: string])[] = [
  ["QRCode", "https://example.org/ä", "QR"],
  ["MicroQRCode", "12345", "MicroQR"],
  ["RMQRCode", "hello", "RMQR"],
  ["DataMatrix", "hello", "DataMatrix"],
  ["Aztec", "hello", "Aztec"],
  ["PDF417", "hello", "PDF417"],
  ["CompactPDF417", "hello", "PDF417"],
  ["MicroPDF417", "hello", "MicroPDF417"],
  ["MaxiCode", "hello", "MaxiCode"],
  ["Codabar", "A1234B", "Codabar"],
  ["Code39", "HELLO", "Code39"],
  ["Code39Ext", "Hello", "Code39FullASCII"],
  ["Code93", "HELLO", "Code93"],
  ["Code128", "Hello 1", "Code128"],
  ["ITF", "123456", "I2of5"],
  ["EAN13", "4006381333931", "EAN13"],
  ["ISBN", "9783161484100", "EAN13"],
  ["EAN8", "12345670", "EAN8"],
  ["UPCA", "036000291452", "UPCA"],
  ["UPCE", "01234565", "UPCE"],
  ["DataBar", "1234567890123", "GS1DataBar", "0112345678901231"],
  ["DataBarLtd", "1234567890123", "GS1DataBarLimited", "0112345678901231"],
  ["DataBarExp", "[01]01234567890128", "GS1DataBarExpanded", "0101234567890128"],
  ["PZN", "1234567", "PZN", "12345678"],
  ["Telepen", "HELLO", "Telepen"],
  ["DXFilmEdge", "79-7/11A", "DXFilmEdge"],
];

describe("every symbology is read", () => {
  for (const [format, text, type, payload = text] of SYMBOLOGIES) {
    test(format, async () => expect(await found(await draw(format, text))).toEqual([[type, payload]]));
  }
});

test("UPC-E codes say the digits that are printed below them, whatever these stand for", async () => {
  for (const text of ["01234505", "01234514", "01234523", "01234531", "01234543", "01234558"]) {
    const bitmap = await draw("UPCE", text.slice(0, 7));
    const [[type, payload = ""] = []] = await found(bitmap);
    expect([type, payload.slice(0, 7)]).toEqual(["UPCE", text.slice(0, 7)]);
  }
});

test("several in one picture are read from the top, whichever way they are turned", async () => {
  const [square, bars] = [await draw("QRCode", "one"), await draw("Code128", "two")];
  for (const times of [0, 1, 2, 3]) {
    expect(await found(below(turned(square, times), turned(bars, times)))).toEqual([
      ["QR", "one"],
      ["Code128", "two"],
    ]);
  }
});

/** On white, with bars above and below and beside it, `thick` modules each; `quiet` modules are left free beside it. */
function framed({ width, height, data }: Bitmap, thick: number, quiet: number, beside: boolean): Bitmap {
  const [bar, edge] = [thick * SCALE, quiet * SCALE];
  const [left, right] = [MARGIN - edge, width - MARGIN + edge];
  const shift = bar + Math.max(0, edge - MARGIN);
  const [across, down] = [width + 2 * shift, height + 2 * bar];
  const out = new Uint8Array(across * down).fill(255);
  for (let y = 0; y < height; y++) out.set(data.subarray(y * width, (y + 1) * width), (y + bar) * across + shift);
  const [top, bottom] = [MARGIN, height - MARGIN + bar];
  const [from, to] = [left + shift - (beside ? bar : 0), right + shift + (beside ? bar : 0)];
  for (let y = top; y < bottom + bar; y++) {
    for (let x = from; x < to; x++) {
      const isBeside = beside && (x < from + bar || x >= to - bar);
      if (y < top + bar || y >= bottom || isBeside) out[y * across + x] = 0;
    }
  }
  return { width: across, height: down, data: out };
}

test("a code of 14 digits in bearer bars is read, and in a frame, however close that is", async () => {
  const code = await draw("ITF", "12345678901231");
  for (const [quiet, beside] of [
    [0, false],
    [1, true],
    [5, true],
    [10, true],
  ] as const) {
    for (const times of [0, 1]) {
      const label = turned(framed(code, 5, quiet, beside), times);
      expect([quiet, await found(label)]).toEqual([quiet, [["I2of5", "12345678901231"]]]);
    }
  }
  const [label] = await reader.read(framed(code, 5, 1, true));
  expect(label?.box).toEqual({
    x: MARGIN - 4,
    y: MARGIN,
    width: code.width - 2 * MARGIN + 48,
    height: code.height - 2 * MARGIN + 40,
  });
});

test("a number in a frame without its check digit is no such code", async () => {
  expect(await found(framed(await draw("ITF", "12345678901232"), 5, 1, true))).toEqual([]);
});

test("a box is around its code; light on dark is read as well", async () => {
  const bitmap = await draw("QRCode", "box");
  const [code] = await reader.read(bitmap);
  const size = bitmap.width - 2 * MARGIN;
  for (const value of [code?.box.x, code?.box.y]) expect(Math.abs((value ?? 0) - MARGIN)).toBeLessThan(4);
  for (const value of [code?.box.width, code?.box.height]) expect(Math.abs((value ?? 0) - size)).toBeLessThan(6);
  expect(await found({ ...bitmap, data: bitmap.data.map((grey) => 255 - grey) })).toEqual([["QR", "box"]]);
});

test("nothing is found where nothing is, or a code is damaged", async () => {
  const bitmap = await draw("EAN13", "4006381333931");
  const half = Math.floor(bitmap.width / 2);
  const damaged = bitmap.data.map((grey, at) =>
    at % bitmap.width > half && at % bitmap.width < half + 60 ? 255 : grey,
  );
  expect(await found({ ...bitmap, data: damaged })).toEqual([]);
  expect(await found({ width: 50, height: 50, data: new Uint8Array(2500).fill(255) })).toEqual([]);
});
