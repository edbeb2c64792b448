// The body of an upload: a form with a file in it, or the file itself. Either way the content goes on as it comes.

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import { shownName, SvcError } from "../domain/errors.ts";
import { bodyChunks } from "./body-chunks.ts";

/** Form parts or query parameters, in their order; a name may come several times. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** Where a content goes, with the fields that came before it; what it throws ends the upload. */
export type Receive<Content extends Received> = (chunks: AsyncIterable<Uint8Array>, before: Fields) => Promise<Content>;

/** A content that may turn out not to be wanted. */
export interface Received {
  discard(): Promise<void>;
}

export interface Upload<Content> {
  readonly content: Content;
  readonly filename: string;
  readonly fields: Fields;
}

export interface UploadLimits {
  /** Bytes of the content, and what is thrown about more. */
  readonly ceiling: number;
  readonly tooLarge: () => SvcError;
  /** Bytes of each other field. */
  readonly fieldBytes: number;
}

const RAW_NAME = "upload.jsonl";
const LONGEST_NAME = 255;
const FORM_LIMITS = { files: 1, fields: 24, headerPairs: 32 };
/** What a form may have beside the content. */
const FORM_BYTES = 64 * 1024;

/** Whether the body is a form. */
export const isForm = (request: Request): boolean =>
  /^multipart\/form-data\b/i.test(request.headers.get("content-type")?.trim() ?? "");

/**
 * Reads an upload. Throws SvcError about the form, what `receive` throws, or the signal's reason when the client left
 * meanwhile.
 */
export async function readUpload<Content extends Received>(
  request: Request,
  limits: UploadLimits,
  receive: Receive<Content>,
): Promise<Upload<Content>> {
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase();
  if (encoding && encoding !== "identity") {
    throw new SvcError("unsupported_media_type", "Content-Encoding must be identity: send the file uncompressed.");
  }
  const mostBytes = limits.ceiling + (isForm(request) ? FORM_BYTES : 0);
  if (Number(request.headers.get("content-length")) > mostBytes) throw limits.tooLarge();
  try {
    if (isForm(request)) return await readForm(request, limits.fieldBytes, receive);
    const query = new URL(request.url).searchParams;
    const content = await receive(bodyChunks(request), [...query]);
    return { content, filename: (query.get("filename") ?? RAW_NAME).slice(0, LONGEST_NAME), fields: [...query] };
  } catch (error) {
    request.signal.throwIfAborted();
    throw error;
  }
}

async function readForm<Content extends Received>(
  request: Request,
  fieldSize: number,
  receive: Receive<Content>,
): Promise<Upload<Content>> {
  const form = parser(request.headers.get("content-type") ?? "", fieldSize);
  const fields: (readonly [string, string])[] = [];
  let file: { stream: BusboyFileStream; filename: string; content: Promise<Content> } | undefined;
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error;
    form.destroy();
  };
  form.on("field", (name: string, value: string, _: boolean, truncated: boolean) => {
    const param = shownName(name);
    if (truncated) fail(broken(`'${param}' is longer than ${fieldSize} bytes.`, param));
    else fields.push([name, value]);
  });
  form.on("file", (name: string, stream: BusboyFileStream, filename: string | undefined) => {
    if (name !== "file") {
      stream.resume();
      return fail(broken("The part with the file must be named file.", "file"));
    }
    // Who reads it has its own view of an end that comes too early.
    stream.on("error", () => {});
    const content = receive(stream, [...fields]);
    content.catch(fail);
    file = { stream, filename: filename || RAW_NAME, content };
  });
  form.on("filesLimit", () => fail(broken("The form has more than one file.", "file")));
  form.on("fieldsLimit", () => fail(broken(`The form has more than ${FORM_LIMITS.fields} fields.`)));
  try {
    await pipeline(Readable.from(bodyChunks(request)), form);
  } catch {
    failure ??= broken("The form cannot be read: it is cut off or malformed.");
  }
  if (failure) {
    file?.stream.destroy();
    await file?.content.then(
      (content) => content.discard(),
      () => {},
    );
    throw failure;
  }
  if (!file) {
    const message = "'file' is required: a part of the form with a file name.";
    throw new SvcError("missing_required_parameter", message, { param: "file" });
  }
  return { content: await file.content, filename: file.filename.slice(0, LONGEST_NAME), fields };
}

function parser(type: string, fieldSize: number): BusboyInstance {
  try {
    return new Busboy({ headers: { "content-type": type }, limits: { ...FORM_LIMITS, fieldSize } });
  } catch {
    throw broken("Content-Type names no boundary of the form's parts.");
  }
}

const broken = (message: string, param?: string) =>
  new SvcError("invalid_value", message, param === undefined ? {} : { param });
