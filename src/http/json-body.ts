// Reading a JSON request body: media type, size while reading, UTF-8, nesting, syntax. Every failure is ours to word.

import { SvcError } from "../domain/errors.ts";
import { DEEPEST_JSON, deeperThan } from "../domain/json-depth.ts";
import { bodyChunks } from "./body-chunks.ts";

const MB = 1024 * 1024;

/** What clients send who did not choose. */
const FORM_HINTS: Readonly<Record<string, string>> = {
  "application/x-www-form-urlencoded":
    "; got application/x-www-form-urlencoded, which curl -d sends by itself: add -H 'Content-Type: application/json'",
  "multipart/form-data": "; got multipart/form-data",
  "text/plain": "; got text/plain",
};

/** Largest request body in bytes, by kind of route. */
export const bodyCeilings = { generation: 100 * MB, tokenizer: 8 * MB, embeddings: MB, batch: MB } as const;

/**
 * Reads and parses the body, which may have `ceiling` bytes. Throws SvcError `unsupported_media_type`,
 * `payload_too_large`, `invalid_json` or `request_timeout`, and the signal's reason when the client left meanwhile.
 */
export async function readJson(request: Request, ceiling: number): Promise<unknown> {
  checkMediaType(request.headers);
  const bytes = await readBytes(request, ceiling);
  if (bytes.length === 0) throw new SvcError("invalid_json", "The request body is empty; a JSON object is expected.");
  if (deeperThan(DEEPEST_JSON, bytes)) {
    throw new SvcError("invalid_json", `The request body nests deeper than ${DEEPEST_JSON} levels.`);
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const what = error instanceof SyntaxError ? "valid JSON" : "valid UTF-8";
    throw new SvcError("invalid_json", `The request body is not ${what} (${bytes.length} bytes received).`);
  }
}

/** JSON or nothing stated: any other type could come from a cross-site form without a preflight. */
function checkMediaType(headers: Headers): void {
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type && type !== "application/json" && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw new SvcError("unsupported_media_type", `Content-Type must be application/json${FORM_HINTS[type] ?? ""}.`);
  }
  const encoding = headers.get("content-encoding")?.trim().toLowerCase();
  if (encoding && encoding !== "identity") {
    throw new SvcError("unsupported_media_type", "Content-Encoding must be identity: send the body uncompressed.");
  }
}

async function readBytes(request: Request, ceiling: number): Promise<Uint8Array> {
  const stated = request.headers.get("content-length");
  if (Number(stated) > ceiling) throw tooLarge(ceiling, `${Number(stated)} bytes`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of bodyChunks(request)) {
      size += chunk.length;
      if (size > ceiling) break;
      chunks.push(chunk);
    }
  } catch (error) {
    request.signal.throwIfAborted();
    throw error;
  }
  if (size > ceiling) throw tooLarge(ceiling, `more than ${ceiling} bytes`);
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
}

/** Agents look for "too long" and then shorten the conversation. */
function tooLarge(ceiling: number, received: string): SvcError {
  const message = `The request body is too long: this route accepts ${ceiling / MB} MB; got ${received}.`;
  return new SvcError("payload_too_large", message);
}
