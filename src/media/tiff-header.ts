// Reads the directories of a TIFF file, one per picture. Counts and offsets in files may lie, so all are bounded.

import { dataView } from "../domain/data-view.ts";
import { Refusal } from "./refusal.ts";

/** A picture's size, and the tags that describe how it is stored, by their numbers. */
export interface TiffPicture {
  readonly width: number;
  readonly height: number;
  /** 1 to 8, as in EXIF. */
  readonly orientation: number;
  /** Height of a pixel in widths, as of faxes; 1 where it is nearly that, or not plausible. */
  readonly pixelHeight: number;
  /** Bits of all samples of one pixel. */
  readonly pixelBits: number;
  readonly tags: ReadonlyMap<number, readonly number[]>;
}

/** Numbers of the tags that say how a picture is stored. */
export const TAG = {
  subfile: 254,
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  colours: 262,
  orientation: 274,
  samples: 277,
  across: 282,
  down: 283,
  planes: 284,
  palette: 320,
} as const;
export const STRIPS = { offsets: 273, counts: 279, rows: 278 } as const;
export const TILES = { offsets: 324, counts: 325, width: 322, height: 323 } as const;
/** What else the decoder needs; the remaining tags describe cameras and places. */
const OTHERS = [266, 292, 293, 317, 332, 338, 339, 347, 530];
const WANTED = new Set([TAG, STRIPS, TILES, OTHERS].flatMap((tags) => Object.values<number>(tags)));
/** Bytes per value by type: byte, short, long, fraction, undefined. */
const SIZES: Readonly<Record<number, number>> = { 1: 1, 3: 2, 4: 4, 5: 8, 7: 1 };
/** Ratios between the sides of a pixel: a lower one is a square, a higher one an error. */
const SIDES = { least: 1.2, most: 3 };
/** Maximum number of values in one entry: the largest picture has a strip per line; colour maps have 16 bits. */
const MOST_VALUES = 3 * 65_536;
const MOST_ENTRIES = 1000;
const MOST_PICTURES = 10_000;
const ENTRY_BYTES = 12;

/** Returns the pictures in the file's order. Throws Refusal when there are none, or directories are damaged. */
export function readTiff(bytes: Uint8Array): TiffPicture[] {
  const view = dataView(bytes);
  const isLittle = bytes[0] === 0x49;
  const pictures: TiffPicture[] = [];
  const seen = new Set<number>();
  // Directories may share values but need not; more values than the file has bytes are a decompression bomb.
  let left = bytes.length;
  try {
    for (let at = view.getUint32(4, isLittle); at !== 0;) {
      if (seen.has(at) || seen.size >= MOST_PICTURES) throw damaged("directories that do not end");
      seen.add(at);
      const entries = view.getUint16(at, isLittle);
      if (entries > MOST_ENTRIES) throw damaged(`a directory of ${entries} entries`);
      const tags = readTags(view, at + 2, entries, isLittle, left);
      for (const values of tags.values()) left -= values.length;
      pictures.push(pictureOf(tags));
      at = view.getUint32(at + 2 + entries * ENTRY_BYTES, isLittle);
    }
  } catch (error) {
    throw error instanceof RangeError ? damaged("one that is cut off") : error;
  }
  if (pictures.length === 0) throw damaged("one without pictures");
  return pictures;
}

/** Reads a directory's tags. `most`: values that all entries together may have. */
function readTags(
  view: DataView,
  start: number,
  entries: number,
  isLittle: boolean,
  most: number,
): Map<number, number[]> {
  const tags = new Map<number, number[]>();
  let left = most;
  for (let entry = 0; entry < entries; entry++) {
    const at = start + entry * ENTRY_BYTES;
    const tag = view.getUint16(at, isLittle);
    const type = view.getUint16(at + 2, isLittle);
    const count = view.getUint32(at + 4, isLittle);
    const size = SIZES[type];
    if (!WANTED.has(tag) || size === undefined) continue;
    const from = count * size <= 4 ? at + 8 : view.getUint32(at + 8, isLittle);
    // Only resolutions are fractions, and a picture can be read without them.
    if (type === 5 && from + count * size > view.byteLength) continue;
    if (count > MOST_VALUES) throw damaged(`${count} values in one entry`);
    if ((left -= count) < 0) throw damaged("more values than it has bytes");
    const read = (index: number) => {
      if (size === 1) return view.getUint8(from + index);
      if (size === 2) return view.getUint16(from + 2 * index, isLittle);
      const long = view.getUint32(from + size * index, isLittle);
      return size === 4 ? long : long / view.getUint32(from + size * index + 4, isLittle);
    };
    tags.set(
      tag,
      Array.from({ length: count }, (_, index) => read(index)),
    );
  }
  return tags;
}

function pictureOf(tags: ReadonlyMap<number, readonly number[]>): TiffPicture {
  const first = (tag: number, usual: number) => tags.get(tag)?.[0] ?? usual;
  const [width, height] = [first(TAG.width, 0), first(TAG.height, 0)];
  if (width === 0 || height === 0) throw damaged("a picture without a size");
  const orientation = first(TAG.orientation, 1);
  const pixelHeight = first(TAG.across, 1) / first(TAG.down, 1);
  const ratio = Math.max(pixelHeight, 1 / pixelHeight);
  return {
    width,
    height,
    orientation: orientation >= 1 && orientation <= 8 ? orientation : 1,
    pixelHeight: ratio >= SIDES.least && ratio <= SIDES.most ? pixelHeight : 1,
    pixelBits: first(TAG.bits, 1) * first(TAG.samples, 1),
    tags,
  };
}

const damaged = (got: string) => new Refusal("be a whole TIFF file", got);
