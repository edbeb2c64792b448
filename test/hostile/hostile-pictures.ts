// Picture files designed to be expensive, or to be taken for something else.

import { deflateSync } from "node:zlib";
import { pngChunk, pngOfChunks, pngOfRows, type PngHeader } from "../support/png.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

export const bytesOf = (text: string): Bytes => Uint8Array.from(Buffer.from(text, "latin1"));
export const together = (...parts: readonly Uint8Array[]): Bytes => new Uint8Array(Buffer.concat(parts));
const repeated = (part: Uint8Array, count: number): Bytes => new Uint8Array(Buffer.alloc(part.length * count, part));

const MB = 1024 * 1024;
const u16 = (value: number) => [value >> 8, value & 255];

/** Returns a file whose pixels are all zero, in any format. */
function plainPng(header: PngHeader, channels: number): Bytes {
  const { width, height, bits = 8 } = header;
  return pngOfRows(header, Buffer.alloc(height * (1 + Math.ceil((width * channels * bits) / 8))));
}

const jpegSegment = (marker: number, ...content: readonly number[]) =>
  Uint8Array.of(0xff, marker, ...u16(content.length + 2), ...content);
/** Returns a table with one code of one bit. */
const jpegCodes = (table: number, symbol: number) =>
  jpegSegment(0xc4, table, 1, ...Array.from({ length: 15 }, () => 0), symbol);

/** Returns a progressive JPEG whose every further scan passes over all blocks again, in 27 bytes. */
export function jpegOfScans(width: number, height: number, scans: number): Bytes {
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  const scan = (first: number, last: number) => jpegSegment(0xda, 1, 1, 0, first, last, 0);
  // A code of a zero means that up to 32,767 blocks have no more values.
  const bits = `0${"1".repeat(14)}`.repeat(Math.ceil(blocks / 32_767));
  const data = (bits.match(/.{1,8}/g) ?? []).flatMap((byte) => {
    const value = Number.parseInt(byte.padEnd(8, "1"), 2);
    return value === 0xff ? [0xff, 0] : [value];
  });
  return together(
    Uint8Array.of(0xff, 0xd8),
    jpegSegment(0xdb, 0, ...Array.from({ length: 64 }, () => 1)),
    jpegSegment(0xc2, 8, ...u16(height), ...u16(width), 1, 1, 0x11, 0),
    jpegCodes(0, 0),
    jpegCodes(0x10, 0xe0),
    scan(0, 0),
    new Uint8Array(Math.ceil(blocks / 8)),
    repeated(together(scan(1, 63), Uint8Array.from(data)), scans),
    Uint8Array.of(0xff, 0xd9),
  );
}

/** Returns the start of a GIF with one picture that claims this size. */
const gifHeader = (width: number, height: number) => {
  const size = [width & 255, width >> 8, height & 255, height >> 8];
  const data = Uint8Array.of(0x2c, 0, 0, 0, 0, ...size, 0, 2, 2, 0x44, 1, 0);
  return together(bytesOf("GIF89a"), Uint8Array.of(...size, 0x80, 0, 0, 0, 0, 0, 255, 255, 255), data, bytesOf(";"));
};

/** Returns a lossless WebP that claims this size. */
function webpHeader(width: number, height: number): Bytes {
  const bits = Buffer.alloc(4);
  bits.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0);
  return riff(chunk("VP8L", together(Uint8Array.of(0x2f), bits, new Uint8Array(3))));
}

function chunk(type: string, content: Uint8Array, says = content.length): Bytes {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(says >>> 0);
  return together(bytesOf(type), length, content, new Uint8Array(content.length & 1));
}

function riff(...chunks: readonly Uint8Array[]): Bytes {
  const body = together(bytesOf("WEBP"), ...chunks);
  return chunk("RIFF", body);
}

const bmpHeader = (width: number, height: number, bits: number, colours = 0) => {
  const file = Buffer.alloc(54);
  file.write("BM");
  file.writeUInt32LE(54, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(bits, 28);
  file.writeUInt32LE(colours >>> 0, 46);
  return Uint8Array.from(file);
};

/** Returns an EXIF block whose directory is its own value and its own successor. */
const exifLoop = (): Bytes => {
  const block = Buffer.alloc(40);
  block.write("II*\0");
  block.writeUInt32LE(8, 4);
  block.writeUInt16LE(2, 8);
  for (const at of [10, 22]) {
    block.writeUInt16LE(at === 10 ? 0x8769 : 0x0112, at);
    block.writeUInt16LE(at === 10 ? 4 : 3, at + 2);
    block.writeUInt32LE(at === 10 ? 1 : 0xffff_ffff, at + 4);
    block.writeUInt32LE(8, at + 8);
  }
  block.writeUInt32LE(8, 34);
  return Uint8Array.from(block);
};

/** Returns the pictures by name. `whole`: valid files. */
export function hostilePictures(whole: { readonly png: Bytes; readonly jpeg: Bytes }): Readonly<Record<string, Bytes>> {
  const { png, jpeg } = whole;
  const grey = (side: number): PngHeader => ({ width: side, height: side, colour: 0 });
  const packed = (bytes: number) => pngChunk("IDAT", deflateSync(Buffer.alloc(bytes)));
  const behindHead = (...chunks: readonly Uint8Array[]) => together(png.subarray(0, 33), ...chunks, png.subarray(33));
  const text = deflateSync(Buffer.alloc(64 * MB));
  return {
    "PNG of 2 billion pixels a side": pngOfChunks(grey(0x7fff_ffff), packed(MB)),
    "PNG of 4 billion pixels a side": pngOfChunks(grey(0xffff_ffff), packed(MB)),
    "PNG of 50,000 pixels a side": pngOfChunks(grey(50_000), packed(MB)),
    "PNG of 49 megapixels, black": plainPng({ width: 7000, height: 7000, colour: 0 }, 1),
    "PNG of 16 megapixels in 16 bits a channel": plainPng({ width: 4096, height: 4096, colour: 6, bits: 16 }, 4),
    "PNG of 1 pixel by 50 million": plainPng({ width: 1, height: 50_000_000, colour: 0, bits: 1 }, 1),
    "PNG of 50 million pixels by 1": plainPng({ width: 50_000_000, height: 1, colour: 0, bits: 1 }, 1),
    "PNG, interlaced, of fewer pixels than it says": pngOfChunks({ ...grey(4096), interlaced: true }, packed(MB)),
    "PNG of 0 pixels": pngOfChunks(grey(0), packed(1)),
    "PNG without pixels": pngOfChunks(grey(64)),
    "PNG whose pixels are a bomb": pngOfChunks(grey(64), packed(256 * MB)),
    "PNG with a bomb as text": behindHead(pngChunk("zTXt", together(bytesOf("a\0\0"), text))),
    "PNG with a bomb as colour profile": behindHead(pngChunk("iCCP", together(bytesOf("a\0\0"), text))),
    "PNG with a million empty chunks": behindHead(repeated(pngChunk("teXt", new Uint8Array(0)), 1_000_000)),
    "PNG with a chunk of 4 GB": together(png.subarray(0, 33), Uint8Array.of(255, 255, 255, 255), png.subarray(37)),
    "PNG with EXIF in a loop": behindHead(pngChunk("eXIf", exifLoop())),
    "PNG with a palette that is too short": pngOfChunks(
      { width: 64, height: 64, colour: 3 },
      pngChunk("PLTE", new Uint8Array(3)),
      pngChunk("IDAT", deflateSync(Buffer.alloc(65 * 64, 255))),
    ),
    "JPEG of 65,500 pixels a side": jpegOfScans(65_500, 65_500, 0).slice(0, 600_000),
    "JPEG of 10,000 scans": jpegOfScans(4096, 4096, 10_000),
    "JPEG of 400,000 scans": jpegOfScans(4096, 4096, 400_000),
    "JPEG of a million empty segments": together(
      jpeg.subarray(0, 2),
      repeated(jpegSegment(0xfe), 1_000_000),
      jpeg.subarray(2),
    ),
    "JPEG with EXIF in a loop": together(
      jpeg.subarray(0, 2),
      jpegSegment(0xe1, ...bytesOf("Exif\0\0"), ...exifLoop()),
      jpeg.subarray(2),
    ),
    "JPEG in 12 MB of fill bytes": together(jpeg.subarray(0, 2), new Uint8Array(12 * MB).fill(255), jpeg.subarray(2)),
    "JPEG, arithmetic": (() => {
      const file = jpegOfScans(64, 64, 1);
      file[file.indexOf(0xc2)] = 0xca;
      return file;
    })(),
    "GIF of 65,535 pixels a side": gifHeader(65_535, 65_535),
    "GIF of 4,000 pixels a side, cut off": gifHeader(4000, 4000),
    "GIF of a million empty blocks": together(
      gifHeader(4000, 4000).subarray(0, 19),
      repeated(Uint8Array.of(0x21, 0xfe, 0), 1_000_000),
      gifHeader(4000, 4000).subarray(19),
    ),
    "WebP of 16,384 pixels a side": webpHeader(16_384, 16_384),
    "WebP of 4,000 pixels a side, cut off": webpHeader(4000, 4000),
    "WebP of a million empty chunks": riff(
      chunk("VP8X", Uint8Array.of(2, 0, 0, 0, 63, 0, 0, 63, 0, 0)),
      repeated(chunk("ANIM", new Uint8Array(0)), 1_000_000),
    ),
    "WebP with a chunk of 4 GB": riff(chunk("VP8L", new Uint8Array(64), 0xffff_fff0)),
    "BMP of 2 billion pixels a side": bmpHeader(0x7fff_ffff, -0x7fff_ffff, 24),
    "BMP of 4,096 pixels a side, cut off": bmpHeader(4096, 4096, 32),
    "BMP of 4 billion colours": bmpHeader(64, 64, 8, 0xffff_ffff),
    "a script that is SVG": bytesOf('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
    "an SVG that fetches": bytesOf('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'),
    "a web page": bytesOf("<!doctype html><script>fetch('//evil.example')</script>"),
    "a program": together(bytesOf("#!/bin/sh\nid\n")),
    "an archive behind PNG": together(png, bytesOf("PK\x03\x04"), new Uint8Array(MB)),
    "ImageMagick's language": bytesOf(
      "push graphic-context\nimage over 0,0 0,0 'https://127.0.0.1/'\npop graphic-context",
    ),
    PostScript: bytesOf("%!PS\n(/etc/passwd) (r) file { dup read } loop"),
    "one byte": bytesOf("\x89"),
    "20 MB of zeros": new Uint8Array(20_000_000),
    "21 MB of PNG": together(png, new Uint8Array(21_000_000)),
  };
}
