// Reads the header of a GGUF file (versions 2 and 3): metadata and the table of tensors, but no weights.

import { closeSync, openSync, readdirSync, statSync } from "node:fs";
import { basename } from "node:path";
import { fileReason, systemErrorCode } from "../domain/system-error-code.ts";
import { GgufCursor, HeaderOutOfBounds, numberBytes } from "./gguf-cursor.ts";
import { tensorTypes } from "./tensor-types.ts";

/** The file cannot be served. `message`: one plain sentence that tells the operator what is wrong with the file. */
export class ModelFileError extends Error {
  override readonly name = "ModelFileError";
}

/** Of an array of strings, or a long array, only the length is kept. */
export type MetadataValue = string | number | boolean | readonly number[] | { readonly length: number };

export interface Gguf {
  readonly metadata: ReadonlyMap<string, MetadataValue>;
  readonly tensors: number;
  /** Whether the model has a classification head, which scores an input. */
  readonly classifies: boolean;
  readonly tensorBytes: number;
  readonly fileBytes: number;
  /** Size of metadata and tensor table. */
  readonly headerBytes: number;
  /** Modification time of the file, Unix seconds. */
  readonly modified: number;
}

/** Vocabularies make headers of several megabytes; a larger header than this means a corrupt length. */
const LARGEST_HEADER = 256 << 20;
const LONGEST_KEPT_ARRAY = 4096;
/** Chat templates have up to some ten thousand characters. */
const LONGEST_KEPT_STRING = 2 ** 17;
const MOST_DIMENSIONS = 4;
/** Fewest bytes of a metadata entry (key length, type, one byte), and of a tensor with an empty name. */
const SMALLEST_ENTRY = 13;
const SMALLEST_TENSOR = 24;

/** How many files of a folder an error message names. */
const MOST_LISTED = 5;

const BOOLEAN = 7;
const STRING = 8;
const ARRAY = 9;

/**
 * Reads the header of the file at `path` in milliseconds, whatever the file's size. Throws ModelFileError when the file
 * cannot be read, is not GGUF, is corrupt, or ends before its last tensor does.
 */
export function readGguf(path: string): Gguf {
  const name = basename(path);
  // Checked before opening, because opening a pipe would wait for its writer.
  const stat = attempt(path, () => statSync(path));
  if (stat.isDirectory()) throw aboutFolder(path, name);
  if (!stat.isFile()) throw new ModelFileError(`${name} is not a regular file.`);
  if (stat.size === 0) throw new ModelFileError(`${name} is empty.`);
  const fd = attempt(path, () => openSync(path, "r"));
  try {
    return { ...parse(fd, stat.size, name), fileBytes: stat.size, modified: Math.floor(stat.mtimeMs / 1000) };
  } finally {
    closeSync(fd);
  }
}

/** Returns the error for a folder, such as that of a download: names the GGUF files in it, if any. */
function aboutFolder(path: string, name: string): ModelFileError {
  const files = attempt(path, () => readdirSync(path)).filter((file) => file.toLowerCase().endsWith(".gguf"));
  const more = files.length > MOST_LISTED ? ", …" : "";
  return new ModelFileError(
    files.length === 0
      ? `${name} is a folder without a GGUF file.`
      : `${name} is a folder; name a file in it: ${files.toSorted().slice(0, MOST_LISTED).join(", ")}${more}.`,
  );
}

function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw new ModelFileError(`There is no file ${path}.`);
    if (code === "EACCES" || code === "EPERM") throw new ModelFileError(`There is no permission to read ${path}.`);
    throw new ModelFileError(`${path} cannot be opened: ${fileReason(error)}.`);
  }
}

function parse(fd: number, fileBytes: number, name: string): Omit<Gguf, "fileBytes" | "modified"> {
  const cursor = new GgufCursor(fd, Math.min(fileBytes, LARGEST_HEADER));
  try {
    checkPreamble(cursor, name);
    const tensors = cursor.u64();
    const entries = cursor.u64();
    if (tensors * SMALLEST_TENSOR + entries * SMALLEST_ENTRY > cursor.remaining) throw new HeaderOutOfBounds();
    const metadata = new Map<string, MetadataValue>();
    for (let i = 0; i < entries; i++) metadata.set(cursor.string(), value(cursor, cursor.u32(), name));
    const { end, bytes, classifies } = tensorExtent(cursor, tensors, name);
    const headerBytes = cursor.position;
    const dataStart = align(headerBytes, alignment(metadata, name));
    if (tensors > 0 && dataStart + end > fileBytes) throw incomplete(name, fileBytes, dataStart + end);
    return { metadata, tensors, classifies, tensorBytes: bytes, headerBytes };
  } catch (error) {
    if (!(error instanceof HeaderOutOfBounds)) throw error;
    const message = `${name} has an incomplete or corrupt header (${fileBytes} bytes in all); get the file again.`;
    throw new ModelFileError(message);
  }
}

function checkPreamble(cursor: GgufCursor, name: string): void {
  const magic = String.fromCharCode(...cursor.bytes(Math.min(4, cursor.remaining)));
  if (magic !== "GGUF") throw new ModelFileError(`${name} is not a GGUF file${looksLike(magic)}.`);
  const version = cursor.u32();
  if (version === 2 || version === 3) return;
  if (version > 0xffff)
    throw new ModelFileError(`${name} is a big-endian GGUF file; this machine needs little-endian.`);
  throw new ModelFileError(`${name} has GGUF version ${version}; versions 2 and 3 can be read.`);
}

/** Describes files that users pass by mistake. */
function looksLike(magic: string): string {
  if (magic === "lmgg") return " but a ggml file, as whisper.cpp uses them";
  if (magic === "tjgg" || magic === "fmgg") return " but an old ggml file; convert it with llama.cpp's tools";
  if (magic === "vers") return " but a Git LFS pointer: fetch the real file with 'git lfs pull'";
  if (magic === "PK\x03\x04") return " but a ZIP archive or a PyTorch checkpoint";
  if (/^\s*</.test(magic)) return " but a web page: the download went wrong";
  return "";
}

function value(cursor: GgufCursor, type: number, name: string): MetadataValue {
  if (type === STRING) return cursor.string(LONGEST_KEPT_STRING);
  if (type === BOOLEAN) return numberOf(cursor, type, name) !== 0;
  if (type !== ARRAY) return numberOf(cursor, type, name);
  const item = cursor.u32();
  const length = cursor.u64();
  // The smallest string consists only of its length.
  const bytes = item === STRING ? 8 : (numberBytes(item) ?? 0);
  if (bytes === 0) throw corrupt(name, `an array of value type ${item}`);
  if (length * bytes > cursor.remaining) throw new HeaderOutOfBounds();
  if (item === STRING) for (let i = 0; i < length; i++) cursor.skip(cursor.u64());
  else if (length > LONGEST_KEPT_ARRAY) cursor.skip(length * bytes);
  else return Array.from({ length }, () => numberOf(cursor, item, name));
  return { length };
}

function numberOf(cursor: GgufCursor, type: number, name: string): number {
  const found = cursor.number(type);
  if (found === undefined) throw corrupt(name, `value type ${type}`);
  return found;
}

/** Returns where the last tensor ends, from the start of the data, all tensors' bytes, and whether one classifies. */
function tensorExtent(cursor: GgufCursor, tensors: number, name: string) {
  let end = 0;
  let bytes = 0;
  let classifies = false;
  for (let i = 0; i < tensors; i++) {
    if (/^cls\.(output\.)?weight$/.test(cursor.string())) classifies = true;
    const dimensions = cursor.u32();
    if (dimensions > MOST_DIMENSIONS) throw corrupt(name, `a tensor of ${dimensions} dimensions`);
    let elements = 1;
    for (let d = 0; d < dimensions; d++) elements *= cursor.u64();
    const number = cursor.u32();
    const type = tensorTypes.get(number);
    if (!type) throw new ModelFileError(`${name} has tensors of type ${number}, which this version does not support.`);
    const offset = cursor.u64();
    const size = Math.ceil(elements / type.elements) * type.bytes;
    if (!Number.isSafeInteger(offset + size)) throw corrupt(name, "a tensor of impossible size");
    end = Math.max(end, offset + size);
    bytes += size;
  }
  return { end, bytes, classifies };
}

function alignment(metadata: Gguf["metadata"], name: string): number {
  const bytes = metadata.get("general.alignment") ?? 32;
  if (typeof bytes === "number" && bytes >= 1 && bytes <= 1 << 20 && Number.isInteger(Math.log2(bytes))) return bytes;
  throw corrupt(name, "an impossible alignment");
}

const align = (position: number, bytes: number): number => Math.ceil(position / bytes) * bytes;

const corrupt = (name: string, what: string) =>
  new ModelFileError(`${name} is corrupt: its header has ${what}. Get the file again.`);

function incomplete(name: string, has: number, needs: number): ModelFileError {
  const missing = `${has} of at least ${needs} bytes are there`;
  return new ModelFileError(`${name} is incomplete: ${missing}. Download it again or finish the download.`);
}
