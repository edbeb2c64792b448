// Reads the body of an upload: a form with a file, or the file itself. The content is passed on while it arrives.

import { missing, type SvcError } from "../domain/errors.ts";
import { bodyChunks } from "./body-chunks.ts";
import { checkEncoding, isForm, readParts, type Fields, type Received } from "./form-parts.ts";

/** Receives content; `before` are the fields that preceded it. What it throws ends the upload. */
type Receive<Content extends Received> = (chunks: AsyncIterable<Uint8Array>, before: Fields) => Promise<Content>;

interface Upload<Content> {
  readonly content: Content;
  readonly filename: string;
  readonly fields: Fields;
}

interface UploadLimits {
  /** Most bytes of the content, and the error for longer content. */
  readonly ceiling: number;
  readonly tooLarge: () => SvcError;
  /** Most bytes of each other field. */
  readonly fieldBytes: number;
  /** Name of a file that comes without one. */
  readonly usualName?: string;
}

const LONGEST_NAME = 255;
/** Most bytes that a form may have besides the content. */
const FORM_BYTES = 64 * 1024;

/**
 * Reads an upload. Throws SvcError about the form, what `receive` throws, or the signal's reason when the client
 * disconnected meanwhile.
 */
export async function readUpload<Content extends Received>(
  request: Request,
  { ceiling, usualName = "file", ...limits }: UploadLimits,
  receive: Receive<Content>,
): Promise<Upload<Content>> {
  if (isForm(request)) {
    const form = { ...limits, ceiling: ceiling + FORM_BYTES, files: { file: 1 }, usualName };
    const { files, fields } = await readParts(request, form, receive);
    const [file] = files;
    if (file) return { content: file.content, filename: file.filename, fields };
    throw missing("file", "a part of the form with a file name");
  }
  checkEncoding(request);
  if (Number(request.headers.get("content-length")) > ceiling) throw limits.tooLarge();
  try {
    const query = new URL(request.url).searchParams;
    const content = await receive(bodyChunks(request), [...query]);
    return { content, filename: (query.get("filename") ?? usualName).slice(0, LONGEST_NAME), fields: [...query] };
  } catch (error) {
    request.signal.throwIfAborted();
    throw error;
  }
}
