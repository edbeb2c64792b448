// One conversation's KV state as a file: a header with all its tokens, the state in the parts in which it was offloaded, and
// a checksum of the parts. Numbers are little-endian.
//
//   magic 8 · length of the header, tokens, media, parts, bytes of the adapters' key: u32 each · fingerprint 32 ·
//   lengths of the parts: f64 each · media: start, tokens, positions, whole: i32 each · token ids: i32 each ·
//   adapters' key: text · SHA-256 of all that 32 | parts | XXH3 8

import { open, rename, unlink, type FileHandle } from "node:fs/promises";
import type { Prefix } from "../../../scheduler/kv/prefix-index.ts";
import type { MediaSpan } from "../../../scheduler/media-span.ts";

interface Header extends Prefix {
  readonly headerBytes: number;
  /** Bytes of each part. */
  readonly parts: readonly number[];
}

/** Milliseconds. An incomplete file that was not written to for this long will not be finished. */
export const ABANDONED_MS = 10 * 60_000;

const MAGIC = "SVC-KV 2";
const FIXED = 28;
const HASH = 32;
const CHECKSUM = 8;
/** Bytes written or read at once: hashing them takes about a millisecond, during which nothing is decoded. */
const PIECE = 4 << 20;
const LARGEST_HEADER = 256 << 20;

/** Returns the name of a file: SHA-256 of the fingerprint and the conversation. */
export function contentHash(fingerprint: Uint8Array, { ids, adapterKey, media }: Prefix): string {
  const sizes = bytesOf(Uint32Array.of(ids.length, media.length));
  const fields = [fingerprint, sizes, bytesOf(ids), bytesOf(spansOf(media)), Buffer.from(adapterKey)];
  return sha256(Buffer.concat(fields)).toString("hex");
}

/** Returns the size of a file in bytes. */
export function fileBytes(entry: Prefix, parts: readonly Uint8Array[]): number {
  return headerBytes(entry, parts.length) + parts.reduce((sum, part) => sum + part.length, 0) + CHECKSUM;
}

/**
 * Writes a file that appears only when it is complete, readable by its owner alone. `temporary` must be in the same
 * folder. Throws the system's error, and then leaves nothing behind.
 */
export async function writeKvFile(
  path: string,
  temporary: string,
  fingerprint: Uint8Array,
  entry: Prefix,
  parts: readonly Uint8Array[],
): Promise<void> {
  const file = await open(temporary, "wx", 0o600);
  try {
    try {
      await writeAll(file, encodeHeader(fingerprint, entry, parts));
      let checksum = 0n;
      for (const part of parts) {
        for (const piece of pieces(part)) {
          checksum = Bun.hash.xxHash3(piece, checksum);
          await writeAll(file, piece);
        }
      }
      await writeAll(file, bytesOf(BigUint64Array.of(checksum)));
      // The name must not be on disk before the bytes.
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

/**
 * Reads which conversation a file holds, without its state. Returns undefined when the file is damaged, incomplete, or
 * has another fingerprint. Throws the system's error.
 */
export function readKvHeader(path: string, fingerprint: Uint8Array): Promise<Prefix | undefined> {
  return reading(path, async (file) => {
    const found = await header(file, fingerprint);
    return found && { ids: found.ids, adapterKey: found.adapterKey, media: found.media };
  });
}

/** Reads the state's parts; undefined if damaged or not of exactly these tokens. Throws the system's error. */
export function readKvFile(path: string, fingerprint: Uint8Array, wanted: Prefix): Promise<Uint8Array[] | undefined> {
  return reading(path, async (file) => {
    const found = await header(file, fingerprint);
    if (!found || !isOf(found, wanted)) return;
    let position = found.headerBytes;
    let checksum = 0n;
    const parts: Uint8Array[] = [];
    for (const length of found.parts) {
      const part = new Uint8Array(length);
      for (const piece of pieces(part)) {
        if (!(await readAll(file, piece, position))) return;
        position += piece.length;
        checksum = Bun.hash.xxHash3(piece, checksum);
      }
      parts.push(part);
    }
    const expected = new BigUint64Array(1);
    if (!(await readAll(file, bytesOf(expected), position)) || expected[0] !== checksum) return;
    return parts;
  });
}

async function reading<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, "r");
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

async function header(file: FileHandle, fingerprint: Uint8Array): Promise<Header | undefined> {
  const fixed = new Uint8Array(FIXED);
  if (!(await readAll(file, fixed, 0)) || Buffer.from(fixed.subarray(0, MAGIC.length)).toString() !== MAGIC) return;
  const [length = 0, tokens = 0, spans = 0, parts = 0, keyBytes = 0] = new Uint32Array(fixed.buffer, MAGIC.length);
  const { size } = await file.stat();
  if (length !== sizeOf(tokens, spans, parts, keyBytes) || length > Math.min(size, LARGEST_HEADER)) return;
  const bytes = new Uint8Array(length);
  if (!(await readAll(file, bytes, 0))) return;
  const { buffer } = bytes;
  if (!isSame(sha256(bytes.subarray(0, -HASH)), bytes.subarray(-HASH))) return;
  if (!isSame(bytes.subarray(FIXED, FIXED + HASH), fingerprint)) return;
  let at = FIXED + HASH;
  // Sliced, because the offset is not aligned.
  const lengths = [...new Float64Array(buffer.slice(at, at + 8 * parts))];
  const numbers = new Int32Array(buffer, (at += 8 * parts), 4 * spans);
  const ids = new Int32Array(buffer, (at += 16 * spans), tokens);
  const adapterKey = Buffer.from(buffer, at + 4 * tokens, keyBytes).toString();
  if (length + lengths.reduce((sum, part) => sum + part, 0) + CHECKSUM !== size) return;
  return { headerBytes: length, parts: lengths, ids, adapterKey, media: mediaOf(numbers) };
}

function encodeHeader(fingerprint: Uint8Array, entry: Prefix, parts: readonly Uint8Array[]): Uint8Array {
  const { ids, media } = entry;
  const key = Buffer.from(entry.adapterKey);
  const sizes = [headerBytes(entry, parts.length), ids.length, media.length, parts.length, key.length];
  const lengths = Float64Array.from(parts, (part) => part.length);
  const fields = [
    Buffer.from(MAGIC),
    bytesOf(Uint32Array.from(sizes)),
    fingerprint,
    bytesOf(lengths),
    bytesOf(spansOf(media)),
    bytesOf(ids),
    key,
  ];
  const unsigned = Buffer.concat(fields);
  return Buffer.concat([unsigned, sha256(unsigned)]);
}

const sizeOf = (tokens: number, spans: number, parts: number, keyBytes: number): number =>
  FIXED + HASH + 8 * parts + 16 * spans + 4 * tokens + keyBytes + HASH;

const headerBytes = ({ ids, adapterKey, media }: Prefix, parts: number): number =>
  sizeOf(ids.length, media.length, parts, Buffer.byteLength(adapterKey));

const isOf = (a: Prefix, b: Prefix): boolean =>
  a.adapterKey === b.adapterKey && isSame(a.ids, b.ids) && isSame(spansOf(a.media), spansOf(b.media));

const spansOf = (media: readonly MediaSpan[]): Int32Array =>
  Int32Array.from(media.flatMap(({ start, tokens, positions, whole }) => [start, tokens, positions, Number(whole)]));

const mediaOf = (numbers: Int32Array): MediaSpan[] =>
  Array.from({ length: numbers.length / 4 }, (_, at) => {
    const [start = 0, tokens = 0, positions = 0, whole = 0] = numbers.subarray(4 * at, 4 * at + 4);
    return { start, tokens, positions, whole: whole === 1 };
  });

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

/** Writes all bytes; the system may take fewer at a time. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done)).bytesWritten;
  }
}

/** Fills `into`; returns false when the file ends first. */
async function readAll(file: FileHandle, into: Uint8Array, position: number): Promise<boolean> {
  for (let done = 0; done < into.length;) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}

const sha256 = (bytes: Uint8Array): Buffer => new Bun.CryptoHasher("sha256").update(bytes).digest();

const bytesOf = (numbers: Int32Array | Uint32Array | Float64Array | BigUint64Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

const isSame = (a: Uint8Array | Int32Array, b: Uint8Array | Int32Array): boolean =>
  a.length === b.length && a.every((value, at) => value === b[at]);
