// Reads TIFF files, as scanners write them: each picture in the file is a page.

import { inflateSync } from "node:zlib";
import UTIF from "utif2";
import { readImageHeader } from "../../../media/image-header.ts";
import { onWhite } from "../../../media/pixels.ts";
import { readTiff, STRIPS, TAG, TILES, type TiffPicture } from "../../../media/tiff-header.ts";
import { unpackBits, unpackLzw } from "../../../media/unpack.ts";
import type { OpenDocument } from "./document.ts";
import { checkSides, LONGEST_SIDE, unreadable } from "./limits.ts";
import { picturePage, type Decoded } from "./picture.ts";

/** Marks a thumbnail of another picture. */
const REDUCED = 1;
const PLAIN = 1;
/** Each colour in a plane of its own, instead of the colours of a pixel side by side. */
const SEPARATE = 2;
const JPEG = 7;
/** Side of a JPEG block in pixels, where several blocks share their colours. */
const JPEG_BLOCK = 16;
/** Decompression done here, by the TIFF number of the compression: none, LZW, deflate (two numbers), PackBits. */
const UNPACK: ReadonlyMap<number, (piece: Uint8Array, length: number) => Uint8Array> = new Map([
  [PLAIN, (piece: Uint8Array, length: number) => piece.subarray(0, length)],
  [5, unpackLzw],
  [8, inflated],
  [32_946, inflated],
  [32_773, unpackBits],
]);
/** Compressions that the decoder handles: three of fax machines, and JPEG. */
const OTHERS: ReadonlySet<number> = new Set([2, 3, 4, JPEG]);
/** Kinds of colours: grey from white or from black, indices of a palette, and cyan, magenta, yellow and black. */
const [WHITE_IS_ZERO, BLACK_IS_ZERO, PALETTE, FOUR_INKS] = [0, 1, 3, 5];
const INK_BITS = 8;
const MOST_PIXEL_BITS = 64;

type Tags = TiffPicture["tags"];

/** Throws Refusal of a file whose directories are invalid. */
export function openTiff(bytes: Uint8Array): OpenDocument {
  const all = readTiff(bytes);
  const whole = all.filter(({ tags }) => ((tags.get(TAG.subfile)?.[0] ?? 0) & REDUCED) === 0);
  const pictures = whole.length > 0 ? whole : all;
  return {
    pageCount: pictures.length,
    async page(number) {
      const picture = pictures[number - 1];
      if (!picture) throw new Error(`there is no page ${number}`);
      return picturePage(decode(bytes, picture));
    },
    close() {},
  };
}

function decode(bytes: Uint8Array, picture: TiffPicture): Decoded {
  const { width, height, orientation, pixelHeight } = picture;
  checkSides(width, height);
  const { file, tags } = prepared(bytes, picture);
  // The decoder gets our directory, whose values are checked.
  const entries = [...tags, ...greyPalette(tags)].map(([tag, values]) => [`t${tag}`, values]);
  const directory = Object.fromEntries(entries) as unknown as UTIF.IFD;
  const rgba = toRgba(file, directory, tags, width * height);
  if (!rgba) throw damaged();
  // The decoder leaves all pixels of a kind that it does not convert as they are.
  if (!rgba.some((value, at) => at % 4 === 3 && value > 0)) throw unsupported();
  const rgb = new Uint8Array(width * height * 3);
  onWhite(rgba, 0, rgb, 0, width * height);
  return { width, height, rgb, orientation, pixelHeight };
}

/** Returns red, green, blue and opacity of each pixel; undefined for a damaged picture. */
function toRgba(file: ArrayBuffer, directory: UTIF.IFD, tags: Tags, count: number): Uint8Array | undefined {
  try {
    UTIF.decodeImage(file, directory);
    const inks = tags.get(TAG.colours)?.[0] === FOUR_INKS ? (tags.get(TAG.samples)?.[0] ?? 0) : 0;
    // The decoder's own conversion of inks to colours is made for web pages.
    return inks < 4 ? UTIF.toRGBA8(directory) : lightOf(directory.data, count, inks);
  } catch {
    return undefined;
  }
}

/** Returns tags that describe grey of 2 or 4 bits as a palette, since the decoder converts only some kinds of it. */
function greyPalette(tags: Tags): [number, readonly number[]][] {
  const [colours, bits] = [tags.get(TAG.colours)?.[0], tags.get(TAG.bits)?.[0]];
  if ((colours !== WHITE_IS_ZERO && colours !== BLACK_IS_ZERO) || (bits !== 2 && bits !== 4)) return [];
  const most = 2 ** bits - 1;
  const ramp = Array.from(
    { length: most + 1 },
    (_, at) => (65_535 * (colours === BLACK_IS_ZERO ? at : most - at)) / most,
  );
  return [
    [TAG.colours, [PALETTE]],
    [TAG.palette, [...ramp, ...ramp, ...ramp]],
  ];
}

/** Converts pixels in four inks of 8 bits each to red, green and blue. */
function lightOf(samples: Uint8Array, count: number, perPixel: number): Uint8Array {
  const rgba = new Uint8Array(count * 4).fill(255);
  for (let pixel = 0, from = 0; pixel < count; pixel++, from += perPixel) {
    const paper = 255 - (samples[from + 3] ?? 0);
    for (let ink = 0; ink < 3; ink++) rgba[pixel * 4 + ink] = ((255 - (samples[from + ink] ?? 0)) * paper) / 255;
  }
  return rgba;
}

/** Returns the file and the picture's tags for the decoder: all lengths are checked and the content is decompressed. */
function prepared(bytes: Uint8Array, { width, height, pixelBits, tags }: TiffPicture) {
  const compression = tags.get(TAG.compression)?.[0] ?? PLAIN;
  const unpack = UNPACK.get(compression);
  if (!unpack && !OTHERS.has(compression)) throw unreadable(`a TIFF file with compression ${compression}`);
  if (pixelBits > MOST_PIXEL_BITS) throw unreadable(`a TIFF file of ${pixelBits} bits a pixel`);
  if (tags.get(TAG.colours)?.[0] === FOUR_INKS && tags.get(TAG.bits)?.[0] !== INK_BITS) throw unsupported();
  if (tags.get(TAG.planes)?.[0] === SEPARATE) throw unreadable("a TIFF file with a plane a colour");
  const isTiled = tags.has(TILES.width);
  const [across, down] = isTiled
    ? [tags.get(TILES.width)?.[0] ?? 0, tags.get(TILES.height)?.[0] ?? 0]
    : [width, Math.min(height, tags.get(STRIPS.rows)?.[0] ?? height)];
  if (across === 0 || down === 0 || Math.max(across, down) > LONGEST_SIDE) throw damaged();
  const names = isTiled ? TILES : STRIPS;
  const count = (isTiled ? Math.ceil(width / across) : 1) * Math.ceil(height / down);
  const offsets = (tags.get(names.offsets) ?? []).slice(0, count);
  const pieces = piecesOf(bytes, offsets, tags.get(names.counts));
  const pieceBytes = Math.ceil((across * pixelBits) / 8) * down;
  // Pieces not decompressed here are copied. They may share bytes but need not, so together they must fit the file's
  // length.
  const copied = unpack ? 0 : pieces.reduce((sum, { length }) => sum + length, 0);
  if (copied > bytes.length) throw damaged();
  if (compression === JPEG) checkJpegs(pieces, across, down);
  const contents = unpack ? pieces.map((piece) => unpack(piece, pieceBytes)) : pieces;
  const plain = new Map([...tags, [TAG.compression, [unpack ? PLAIN : compression]]]);
  return rebuilt(bytes, contents, plain, names);
}

/** Returns the strips or tiles. One without a length extends to the end of the file. */
function piecesOf(bytes: Uint8Array, offsets: readonly number[], counts: readonly number[] | undefined): Uint8Array[] {
  if (offsets.length === 0) throw damaged();
  return offsets.map((offset, at) => {
    if (offset >= bytes.length) throw damaged();
    return bytes.subarray(offset, Math.min(bytes.length, offset + (counts?.[at] ?? bytes.length)));
  });
}

/** Puts the pieces one after another behind the file's first bytes, which state the byte order. */
function rebuilt(
  bytes: Uint8Array,
  pieces: readonly Uint8Array[],
  tags: Map<number, readonly number[]>,
  names: { readonly offsets: number; readonly counts: number },
) {
  let end = 8;
  const offsets = pieces.map(({ length }) => (end += length) - length);
  tags.set(names.offsets, offsets);
  tags.set(
    names.counts,
    pieces.map(({ length }) => length),
  );
  const file = new Uint8Array(end);
  file.set(bytes.subarray(0, 8));
  pieces.forEach((piece, at) => file.set(piece, offsets[at]));
  return { file: file.buffer, tags };
}

/** A piece that holds more than it should is damaged, or a decompression bomb. */
function inflated(piece: Uint8Array, length: number): Uint8Array {
  try {
    return inflateSync(piece, { maxOutputLength: length });
  } catch {
    throw damaged();
  }
}

/** The decoder trusts the size inside a JPEG, which must therefore fit its strip or tile in whole blocks. */
function checkJpegs(pieces: readonly Uint8Array[], across: number, down: number): void {
  const most = (side: number) => Math.ceil(side / JPEG_BLOCK) * JPEG_BLOCK;
  for (const piece of pieces) {
    const header = readImageHeader("jpeg", piece);
    if (!header || header.width > most(across) || header.height > most(down)) throw damaged();
  }
}

const damaged = () => unreadable("a damaged TIFF file");
const unsupported = () => unreadable("a TIFF file of an unsupported kind");
