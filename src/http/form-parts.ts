// Reads forms that contain files: each file is passed on while it arrives, one after another.

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import { invalidValue, missing, shownName, SvcError } from "../domain/errors.ts";
import { bodyChunks, checkEncoding } from "./body-chunks.ts";
import { own } from "../domain/own.ts";

/** Form parts or query parameters in order; a name may occur several times. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** Received content that can be discarded again. */
export interface Received {
  discard(): Promise<void>;
}

/** Returns the result of `work`; when it throws, discards these contents. */
export async function orDiscard<T>(contents: readonly Received[], work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await Promise.all(contents.map((content) => content.discard()));
    throw error;
  }
}

/** Receives the content of the part `name`; `before` are the preceding fields. What it throws ends the upload. */
type ReceivePart<Content extends Received> = (
  chunks: AsyncIterable<Uint8Array>,
  before: Fields,
  name: string,
) => Promise<Content>;

export interface FormFile<Content> {
  /** Name of the file's form part. */
  readonly name: string;
  readonly filename: string;
  readonly content: Content;
}

interface FormParts<Content> {
  /** The files in the order of the form. */
  readonly files: readonly FormFile<Content>[];
  readonly fields: Fields;
}

interface FormLimits {
  /** Names of the parts that are files, each with the most files it may have. */
  readonly files: Readonly<Record<string, number>>;
  /** Most bytes of the whole form, and the error for a longer one. */
  readonly ceiling: number;
  readonly tooLarge: () => SvcError;
  /** Most bytes of each other field. */
  readonly fieldBytes: number;
  /** Name of a file that comes without one; default: file. */
  readonly usualName?: string;
}

const MOST_FIELDS = 24;
/** A boundary in printable ASCII, with escapes if it is in quotes; RFC 2046 allows 70 characters. */
const BOUNDARY = /;\s*boundary\s*=\s*(?:"((?:[ !#-[\]-~]|\\["\\]){1,200})"|([!#-:<-[\]-~]{1,200})(?=[\s;]|$))/i;
/** Characters of a file name that are kept. */
export const LONGEST_NAME = 255;
/** Most bytes that a form with one file may have besides the file. */
const FORM_BYTES = 64 * 1024;

/** Returns whether the body is a form. */
export const isForm = (request: Request): boolean =>
  /^multipart\/form-data\b/i.test(request.headers.get("content-type")?.trim() ?? "");

interface Arriving<Content> {
  readonly name: string;
  readonly stream: BusboyFileStream;
  readonly filename: string;
  readonly content: Promise<Content>;
}

/** Reads a form. Throws SvcError about the form, or what `receive` throws; everything received by then is discarded. */
export async function readParts<Content extends Received>(
  request: Request,
  { files: known, ceiling, tooLarge, fieldBytes, usualName = "file" }: FormLimits,
  receive: ReceivePart<Content>,
): Promise<FormParts<Content>> {
  checkEncoding(request);
  if (Number(request.headers.get("content-length")) > ceiling) throw tooLarge();
  const names = Object.keys(known);
  // One more than are taken, so that a field or a file too many is refused as what it is.
  const mostParts = Object.values(known).reduce((sum, most) => sum + most, MOST_FIELDS + 1);
  const boundary = boundaryOf(request.headers.get("content-type"));
  const form = parser(boundary, fieldBytes, mostParts);
  const fields: (readonly [string, string])[] = [];
  const files: Arriving<Content>[] = [];
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error;
    form.destroy();
  };
  form.on("field", (name: string, value: string, _: boolean, truncated: boolean) => {
    const param = shownName(name);
    if (!truncated) fields.push([name, value]);
    else if (Object.hasOwn(known, name)) fail(invalidValue(param, "be a part of the form with a file name", "text"));
    else fail(broken(`'${param}' is longer than ${fieldBytes} bytes.`, param));
  });
  form.on("file", (name: string, stream: BusboyFileStream, filename: string | undefined) => {
    const most = own(known, name);
    const excess = most === undefined ? unknownFile(name, names) : tooMany(files, name, most, names);
    if (excess) {
      stream.resume();
      return fail(excess);
    }
    // The reader of the stream handles a premature end itself.
    stream.on("error", () => {});
    const content = receive(stream, [...fields], name);
    content.catch(fail);
    files.push({ name, stream, filename: filename || usualName, content });
  });
  form.on("fieldsLimit", () => fail(broken(`The form has more than ${MOST_FIELDS} fields.`)));
  const tooManyParts = () => broken(`The form has more than ${mostParts} parts.`);
  form.on("partsLimit", () => fail(tooManyParts()));
  async function* body(): AsyncGenerator<Uint8Array, void, void> {
    const delimiter = Buffer.from(`\r\n--${boundary.replaceAll(/\\(.)/g, "$1")}`);
    let size = 0;
    let parts = 0;
    try {
      for await (const chunk of bodyChunks(request)) {
        size += chunk.length;
        if (size > ceiling) throw tooLarge();
        // Before the parser sees them: a part without a name needs five bytes, and costs a stream even beyond the limit.
        parts += occurrences(chunk, delimiter, mostParts + 1);
        if (parts > mostParts) throw tooManyParts();
        yield chunk;
      }
    } catch (error) {
      // Recorded before the readers of the parts fail because these are incomplete.
      if (error instanceof SvcError) failure ??= error;
      throw error;
    }
  }
  try {
    await pipeline(Readable.from(body()), form);
  } catch {
    failure ??= broken("The form cannot be read: it is cut off or malformed.");
  }
  const received: FormFile<Content>[] = [];
  for (const { name, filename, stream, content } of files) {
    if (failure) stream.destroy();
    try {
      received.push({ name, filename: filename.slice(0, LONGEST_NAME), content: await content });
    } catch (error) {
      // A file that is refused at its end may be refused after the end of the form.
      failure ??= error;
    }
  }
  if (failure) {
    await Promise.all(received.map(({ content }) => content.discard()));
    throw failure;
  }
  return { files: received, fields };
}

/** Reads a form with one file, of at most `ceiling` bytes, as the part `file`. Throws like `readParts`. */
export async function readOneFile<Content extends Received>(
  request: Request,
  { ceiling, ...limits }: Omit<FormLimits, "files">,
  receive: ReceivePart<Content>,
): Promise<{ content: Content; filename: string; fields: Fields }> {
  const form = { ...limits, ceiling: ceiling + FORM_BYTES, files: { file: 1 } };
  const { files, fields } = await readParts(request, form, receive);
  const [file] = files;
  if (file) return { content: file.content, filename: file.filename, fields };
  throw missing("file", "a part of the form with a file name");
}

function boundaryOf(type: string | null): string {
  const [, quoted, plain] = BOUNDARY.exec(type ?? "") ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined)
    throw broken("Content-Type names no boundary of the form's parts, of at most 200 printable ASCII characters.");
  return boundary;
}

const parser = (boundary: string, fieldSize: number, parts: number): BusboyInstance =>
  new Busboy({
    headers: { "content-type": `multipart/form-data; boundary="${boundary}"` },
    limits: { fields: MOST_FIELDS, parts, headerPairs: 32, fieldSize },
  });

/** Returns how often `part` occurs in `chunk`, at most `most`; not what occurs across two chunks. */
function occurrences(chunk: Uint8Array, part: Buffer, most: number): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  let count = 0;
  for (let at = bytes.indexOf(part); at >= 0 && count < most; at = bytes.indexOf(part, at + part.length)) count++;
  return count;
}

function unknownFile(name: string, names: readonly string[]): SvcError {
  const [only = ""] = names;
  const got = `got one named '${shownName(name)}'`;
  if (names.length === 1) return broken(`The part with the file must be named ${only}; ${got}.`, only);
  return broken(`Parts with files must be named ${names.slice(0, -1).join(", ")} or ${names.at(-1)}; ${got}.`, only);
}

function tooMany(
  files: readonly { readonly name: string }[],
  name: string,
  most: number,
  names: readonly string[],
): SvcError | undefined {
  if (files.filter((file) => file.name === name).length < most) return undefined;
  if (names.length === 1 && most === 1) return broken("The form has more than one file.", name);
  return broken(`The form has more than ${most === 1 ? "one file" : `${most} files`} named ${name}.`, name);
}

const broken = (message: string, param?: string) =>
  new SvcError("invalid_value", message, param === undefined ? {} : { param });
