// Reads what the server must know about the files of an image model before it starts an engine for them.

import { statSync } from "node:fs";
import { basename } from "node:path";
import { knownArchitectures } from "./architectures.ts";
import { ModelFileError, readGguf, type Gguf } from "./gguf.ts";
import { readingModel, readPart, type ServedFile } from "./read-model.ts";

const HEAD_BYTES = 8;
/** Headers of the largest models have several megabytes. */
const LARGEST_HEADER = 100 << 20;

/**
 * Checks the file of a model that draws or upscales: as `readImageFile` does, and that it is none of those for text, of
 * which some are parts of image models. Throws ModelFileError.
 */
export const readDrawingFile = (path: string): ServedFile => readImageFile(path, refuseText);

function refuseText({ metadata }: Gguf, name: string): void {
  const architecture = metadata.get("general.architecture");
  if (typeof architecture !== "string" || !knownArchitectures.has(architecture)) return;
  throw new ModelFileError(`${name} is a model for text (${architecture}), which makes no images.`);
}

/** Checks that a file is complete and has a format of image models. Throws ModelFileError, or what `refuse` throws. */
export function readImageFile(path: string, refuse?: (header: Gguf, name: string) => void): ServedFile {
  return readingModel(path, () => {
    const { size, mtimeMs } = statSync(path);
    const head = readPart(path, HEAD_BYTES);
    const magic = head.toString("latin1");
    const header = magic.startsWith("GGUF") ? readGguf(path) : undefined;
    if (header) refuse?.(header, basename(path));
    else if (!isPickled(magic)) checkSafetensors(path, head, size);
    const id = basename(path).replace(/\.(safetensors|gguf|ckpt|pth?)$/i, "");
    return { path, id, bytes: size, modified: Math.floor(mtimeMs / 1000) };
  });
}

/** Returns whether a file is PyTorch's: a ZIP archive or a plain pickle. */
const isPickled = (magic: string): boolean => magic.startsWith("PK\x03\x04") || magic.startsWith("\x80\x02");

/** Checks a safetensors file: length of a JSON header, the header, and the data whose offsets the header has. */
function checkSafetensors(path: string, head: Buffer, size: number): void {
  const name = basename(path);
  const unknown = new ModelFileError(`${name} is not an image model in safetensors, GGUF or PyTorch's format.`);
  if (head.length < HEAD_BYTES) throw unknown;
  const length = Number(head.readBigUInt64LE());
  if (length < 2 || length > LARGEST_HEADER || HEAD_BYTES + length > size) throw unknown;
  const end = HEAD_BYTES + length + lastOffset(readPart(path, length, HEAD_BYTES), unknown);
  if (end > size) throw new ModelFileError(`${name} is incomplete: it has ${size} of ${end} bytes.`);
}

function lastOffset(header: Buffer, unknown: ModelFileError): number {
  let entries: unknown;
  try {
    entries = JSON.parse(header.toString("utf8"));
  } catch {
    throw unknown;
  }
  if (typeof entries !== "object" || entries === null) throw unknown;
  const ends = Object.values(entries).map((entry: { data_offsets?: readonly unknown[] } | null) =>
    Number(entry?.data_offsets?.[1] ?? 0),
  );
  return ends.reduce((most, end) => Math.max(most, end), 0);
}
