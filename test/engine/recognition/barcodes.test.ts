// Barcodes in pictures, read by the real ZXing and drawn by its writer, which is not part of svc.

import { beforeAll, describe, expect, test } from "bun:test";
import { loadBarcodeReader, type BarcodeReader } from "../../../src/engine/recognition/child/barcodes.ts";
import type { Bitmap } from "../../../src/recognition/bitmap.ts";
import { drawCode, MARGIN, prepareCodes, SCALE, SYMBOLOGIES, turned } from "../../support/codes.ts";

let readCodes: BarcodeReader;

beforeAll(async () => {
  await prepareCodes();
  readCodes = await loadBarcodeReader();
});

function below(upper: Bitmap, lower: Bitmap): Bitmap {
  const width = Math.max(upper.width, lower.width);
  const data = new Uint8Array(width * (upper.height + lower.height)).fill(255);
  for (const [{ width: own, height, data: pixels }, from] of [[upper, 0] as const, [lower, upper.height] as const]) {
    for (let y = 0; y < height; y++) data.set(pixels.subarray(y * own, (y + 1) * own), (from + y) * width);
  }
  return { width, height: upper.height + lower.height, data };
}

const found = async (bitmap: Bitmap) => (await readCodes(bitmap)).map(({ type, payload }) => [type, payload]);

describe("every symbology is read", () => {
  for (const [format, text, type, payload = text] of SYMBOLOGIES) {
    test(format, async () => expect(await found(await drawCode(format, text))).toEqual([[type, payload]]));
  }
});

test("UPC-E codes yield the digits that are printed below them, whatever number these stand for", async () => {
  for (const text of ["01234505", "01234514", "01234523", "01234531", "01234543", "01234558"]) {
    const bitmap = await drawCode("UPCE", text.slice(0, 7));
    const [[type, payload = ""] = []] = await found(bitmap);
    expect([type, payload.slice(0, 7)]).toEqual(["UPCE", text.slice(0, 7)]);
  }
});

test("several codes in one picture are read from top to bottom, however they are turned", async () => {
  const [square, bars] = [await drawCode("QRCode", "one"), await drawCode("Code128", "two")];
  for (const times of [0, 1, 2, 3]) {
    expect(await found(below(turned(square, times), turned(bars, times)))).toEqual([
      ["QR", "one"],
      ["Code128", "two"],
    ]);
  }
});

describe("a MaxiCode is read", () => {
  test("however it is turned, in any size", async () => {
    for (const scale of [2, 3]) {
      const code = await drawCode("MaxiCode", "hello", scale);
      for (const times of [0, 1, 2, 3]) {
        expect([scale, times, await found(turned(code, times))]).toEqual([scale, times, [["MaxiCode", "hello"]]]);
      }
    }
  });

  test("next to other codes, with a box around it", async () => {
    const [square, bars] = [await drawCode("MaxiCode", "parcel", 2), await drawCode("Code128", "two", 2)];
    for (const times of [0, 1, 2, 3]) {
      const label = below(turned(square, times), turned(bars, times));
      const codes = await readCodes(label);
      expect(codes.map(({ payload }) => payload)).toEqual(["parcel", "two"]);
      const [{ box } = { box: undefined }] = codes;
      const [width, height] = times % 2 === 0 ? [square.width, square.height] : [square.height, square.width];
      const edges = [box?.x, box?.y, box && width - box.x - box.width, box && height - box.y - box.height];
      for (const edge of edges) expect(Math.abs((edge ?? 0) - MARGIN)).toBeLessThan(MARGIN / 2);
    }
  });
});

/**
 * Frames a code on white with bars `thick` modules wide above and below, and at both sides if `beside`; `quiet`
 * modules stay free at the sides.
 */
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

test("a code of 14 digits is read within bearer bars and within a frame, however close the frame is", async () => {
  const code = await drawCode("ITF", "12345678901231");
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
  const [label] = await readCodes(framed(code, 5, 1, true));
  expect(label?.box).toEqual({
    x: MARGIN - 4,
    y: MARGIN,
    width: code.width - 2 * MARGIN + 48,
    height: code.height - 2 * MARGIN + 40,
  });
});

test("each of several equal labels on a sheet is read", async () => {
  const itf = framed(await drawCode("ITF", "12345678901231"), 5, 1, true);
  const maxi = await drawCode("MaxiCode", "hello", 2);
  for (const label of [itf, maxi]) {
    const one = await found(label);
    expect(one).toHaveLength(1);
    expect(await found(below(label, label))).toEqual([...one, ...one]);
  }
});

test("a framed number without a valid check digit is not read as such a code", async () => {
  expect(await found(framed(await drawCode("ITF", "12345678901232"), 5, 1, true))).toEqual([]);
});

test("the box encloses the code, and light codes on a dark background are read as well", async () => {
  const bitmap = await drawCode("QRCode", "box");
  const [code] = await readCodes(bitmap);
  const size = bitmap.width - 2 * MARGIN;
  for (const value of [code?.box.x, code?.box.y]) expect(Math.abs((value ?? 0) - MARGIN)).toBeLessThan(4);
  for (const value of [code?.box.width, code?.box.height]) expect(Math.abs((value ?? 0) - size)).toBeLessThan(6);
  expect(await found({ ...bitmap, data: bitmap.data.map((grey) => 255 - grey) })).toEqual([["QR", "box"]]);
});

test("nothing is found in a blank picture or for a damaged code", async () => {
  const bitmap = await drawCode("EAN13", "4006381333931");
  const half = Math.floor(bitmap.width / 2);
  const damaged = bitmap.data.map((grey, at) =>
    at % bitmap.width > half && at % bitmap.width < half + 60 ? 255 : grey,
  );
  expect(await found({ ...bitmap, data: damaged })).toEqual([]);
  expect(await found({ width: 50, height: 50, data: new Uint8Array(2500).fill(255) })).toEqual([]);
});
