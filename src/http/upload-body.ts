// The body of an upload: a form with a file in it, or the file itself. Either way the content goes on as it comes.

import { missing, type SvcError } from "../domain/errors.ts";
import { bodyChunks } from "./body-chunks.ts";
import { checkEncoding, isForm, readParts, type Fields, type Received } from "./form-parts.ts";

/** Where a content goes, with the fields that came before it; what it throws ends the upload. */
type Receive<Content extends Received> = (chunks: AsyncIterable<Uint8Array>, before: Fields) => Promise<Content>;

interface Upload<Content> {
  readonly content: Content;
  readonly filename: string;
  readonly fields: Fields;
}

interface UploadLimits {
  /** Bytes of the content, and what is thrown about more. */
  readonly ceiling: number;
  readonly tooLarge: () => SvcError;
  /** Bytes of each other field. */
  readonly fieldBytes: number;
  /** Of a file without a name. */
  readonly usualName?: string;
}

const LONGEST_NAME = 255;
/** What a form may have beside the content. */
const FORM_BYTES = 64 * 1024;

/**
 * Reads an upload. Throws SvcError about the form, what `receive` throws, or the signal's reason when the client left
 * meanwhile.
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
