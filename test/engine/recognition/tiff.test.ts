// TIFF files: kinds of pictures, and false information.

import { describe, expect, test } from "bun:test";
import { deflateSync } from "node:zlib";
import { openTiff } from "../../../src/engine/recognition/child/tiff.ts";
import { Refusal } from "../../../src/media/refusal.ts";
import { jpegOfScans } from "../../hostile/hostile-pictures.ts";

/** Returns the picture of a file's first page. */
const picture = async (content: Uint8Array) => (await openTiff(content).page(1)).picture(150);

/**
 * Returns a little-endian file with these directories, whose entries have tag, type, count and value; `next`:
 * offset of the directory after the last.
 */
function tiff(directories: readonly (readonly (readonly number[])[])[], next = 0): Uint8Array {
  const bytes = Buffer.alloc(4096);
  bytes.write("II*\0", "latin1");
  bytes.writeUInt32LE(8, 4);
  let at = 8;
  for (const [index, entries] of directories.entries()) {
    bytes.writeUInt16LE(entries.length, at);
    at += 2;
    for (const [tag = 0, type = 3, values = 1, value = 0] of entries) {
      bytes.writeUInt16LE(tag, at);
      bytes.writeUInt16LE(type, at + 2);
      bytes.writeUInt32LE(values, at + 4);
      bytes.writeUInt32LE(value, at + 8);
      at += 12;
    }
    bytes.writeUInt32LE(index < directories.length - 1 ? at + 4 : next, at);
    at += 4;
  }
  return bytes;
}
const size = [
  [256, 3, 1, 64],
  [257, 3, 1, 32],
] as const;
const grey = [...size, [258, 3, 1, 8], [262, 3, 1, 1], [277, 3, 1, 1]] as const;
const refused = async (content: Uint8Array) => {
  const error: unknown = await picture(content).catch((reason: unknown) => reason);
  if (!(error instanceof Refusal)) throw error;
  return error.got;
};

describe("TIFF files of rare kinds", () => {
  const strip = [
    [273, 4, 1, 2000],
    [279, 4, 1, 2000],
  ] as const;
  /** Returns the first three pixels of a grey picture of this many bits a pixel, whose strip begins with a byte. */
  async function greys(bits: number, kind: number, byte: number) {
    const content = tiff([[...size, [258, 3, 1, bits], [262, 3, 1, kind], ...strip]]);
    content[2000] = byte;
    return [...(await picture(content)).bitmap.data.subarray(0, 3)];
  }

  test("with grey of 2 or 4 bits are read, whether 0 is white or black", async () => {
    expect(await greys(4, 1, 0x0f)).toEqual([0, 255, 0]);
    expect(await greys(4, 0, 0x0f)).toEqual([255, 0, 255]);
    expect(await greys(2, 1, 0b00_11_01_00)).toEqual([0, 255, 85]);
    expect(await greys(2, 0, 0b00_11_01_00)).toEqual([255, 0, 170]);
  });

  test("with transparent pixels are on white, in each of their colours, too", async () => {
    const pixels = Buffer.alloc(64 * 32 * 4);
    pixels.set([200, 100, 0, 255, 200, 100, 0, 51]);
    const kind = [...size, [258, 3, 1, 8], [262, 3, 1, 2], [277, 3, 1, 4], [273, 4, 1, 4096]];
    const { bitmap, channels } = await picture(Buffer.concat([tiff([kind]), pixels]));
    expect([bitmap, ...channels()].map(({ data }) => [...data.subarray(0, 3)])).toEqual([
      [118, 227, 255],
      [200, 244, 255],
      [100, 224, 255],
      [0, 204, 255],
    ]);
  });

  test.each([
    ["CIELab", 8, 8, 3],
    ["four inks of 16 bits", 5, 16, 4],
    ["RGB with two samples", 2, 8, 2],
  ])("with %s are refused", async (_, kind, bits, samples) => {
    const content = tiff([[...size, [258, 3, 1, bits], [262, 3, 1, kind], [277, 3, 1, samples], ...strip]]);
    expect(await refused(Buffer.concat([content, Buffer.alloc(20_000)]))).toBe("a TIFF file of an unsupported kind");
  });
});

test.each([
  ["a fax is stretched", 204, 98, [64, 67]],
  ["a fax of many lines is stretched", 204, 391, [123, 32]],
  ["a fine fax stays as it is", 204, 196, [64, 32]],
  ["a picture with an implausible resolution stays as it is", 300, 1, [64, 32]],
  ["a picture with an invalid resolution stays as it is", 300, 0, [64, 32]],
])("%s to squares: %d × %d dots per inch", async (_, across, down, wanted) => {
  const [first, second, strip] = [1900, 1908, 2000];
  const content = Buffer.from(tiff([[...grey, [282, 5, 1, first], [283, 5, 1, second], [273, 4, 1, strip]]]));
  for (const [at, value] of [across, 1, down, 1].entries()) content.writeUInt32LE(value, first + 4 * at);
  const { width, height, data } = (await picture(content)).bitmap;
  expect([width, height]).toEqual(wanted);
  expect(data).toHaveLength(width * height);
});

describe("TIFF files with false information", () => {
  test("about their resolution are read without it", async () => {
    for (const count of [1, 2 ** 31]) {
      const content = tiff([[...grey, [282, 5, count, 100_000], [283, 5, count, 2 ** 32 - 4], [273, 4, 1, 8]]]);
      const { width, height } = (await picture(content)).bitmap;
      expect([width, height]).toEqual([64, 32]);
    }
  });

  test("about the position of directories are refused", async () => {
    expect(await refused(tiff([grey], 8))).toBe("directories that do not end");
    expect(await refused(tiff([grey], 4_000_000))).toBe("one that is cut off");
    expect(await refused(tiff([[]]))).toBe("a picture without a size");
  });

  test("about sizes and counts are refused", async () => {
    expect(await refused(tiff([[...grey, [273, 4, 4_000_000_000, 8]]]))).toBe("4000000000 values in one entry");
    expect(
      await refused(
        tiff([
          [
            [256, 4, 1, 60_000],
            [257, 4, 1, 60_000],
          ],
        ]),
      ),
    ).toContain("60000 × 60000 pixels");
    expect(await refused(tiff([[...size, [258, 3, 1, 60_000]]]))).toContain("60000 bits a pixel");
    expect(await refused(tiff([[...grey, [273, 4, 1, 9_000_000]]]))).toBe("a damaged TIFF file");
    expect(await refused(tiff([[...grey, [322, 4, 1, 4_000_000], [323, 4, 1, 16]]]))).toBe("a damaged TIFF file");
    expect(await refused(tiff([[...grey, [259, 3, 1, 34_892], [273, 4, 1, 8]]]))).toContain("compression 34892");
  });

  test("about the content of a strip are refused", async () => {
    const bomb = deflateSync(new Uint8Array(30_000_000));
    const head = Buffer.from(tiff([[...grey, [259, 3, 1, 8], [273, 4, 1, 4096], [279, 4, 1, bomb.length]]]));
    expect(await refused(Buffer.concat([head, bomb]))).toBe("a damaged TIFF file");
    const jpeg = jpegOfScans(4096, 4096, 1);
    const stripped = Buffer.from(tiff([[...grey, [259, 3, 1, 7], [273, 4, 1, 4096], [279, 4, 1, jpeg.length]]]));
    expect(await refused(Buffer.concat([stripped, jpeg]))).toBe("a damaged TIFF file");
  });

  test("about data shared by several entries are refused", async () => {
    const shared = Array.from({ length: 3 }, () => [...grey, [320, 1, 1500, 8]]);
    expect(await refused(tiff(shared))).toBe("more values than it has bytes");
    // Strips without lengths extend to the end of the file.
    expect(await refused(tiff([[...grey, [259, 3, 1, 4], [278, 3, 1, 1], [273, 4, 32, 1000]]]))).toBe(
      "a damaged TIFF file",
    );
  });
});
