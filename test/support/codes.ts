// Draws barcodes as pictures with ZXing's writer, which is not part of svc.

import { prepareZXingModule, writeBarcode, type WriteInputBarcodeFormat } from "zxing-wasm/writer";
import wasm from "zxing-wasm/writer/zxing_writer.wasm" with { type: "file" };
import type { Bitmap } from "../../src/recognition/bitmap.ts";

/** Default side of a module, in pixels. */
export const SCALE = 4;

/** White margin around a code, in pixels. */
export const MARGIN = 40;

/** Loads ZXing's writer; must be called before codes are drawn. */
export async function prepareCodes(): Promise<void> {
  prepareZXingModule({ overrides: { wasmBinary: await Bun.file(wasm).arrayBuffer() } });
}

/** Draws a code with modules of `scale` × `scale` pixels. Throws when the symbology cannot encode the text. */
export async function drawCode(format: WriteInputBarcodeFormat, text: string, scale = SCALE): Promise<Bitmap> {
  const { symbol, error } = await writeBarcode(text, { format });
  if (error !== "") throw new Error(`${format}: ${error}`);
  const width = symbol.width * scale + 2 * MARGIN;
  const height = symbol.height * scale + 2 * MARGIN;
  const data = new Uint8Array(width * height).fill(255);
  for (let y = 0; y < symbol.height * scale; y++) {
    for (let x = 0; x < symbol.width * scale; x++) {
      const module = symbol.data[Math.floor(y / scale) * symbol.width + Math.floor(x / scale)] as number;
      data[(y + MARGIN) * width + x + MARGIN] = module;
    }
  }
  return { width, height, data };
}

/** Returns the picture turned clockwise by `times` right angles. */
export function turned({ width, height, data }: Bitmap, times: number): Bitmap {
  if (times === 0) return { width, height, data };
  const result = new Uint8Array(data.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) result[x * height + height - 1 - y] = data[y * width + x] as number;
  }
  return turned({ width: height, height: width, data: result }, times - 1);
}

/** For each symbology: the text to write, the type to read, and the payload to read where it is not the text. */
export const SYMBOLOGIES: readonly (readonly [
  WriteInputBarcodeFormat,
  text: string,
  type: string,
  payload?: string,
])[] = [
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
