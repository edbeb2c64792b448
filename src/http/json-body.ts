// Reading JSON request bodies: media type, size, UTF-8, nesting and values while reading, syntax. Every failure is ours to word.

import { BodyBudget, type BodyAccount } from "../domain/body-budget.ts";
import { SvcError } from "../domain/errors.ts";
import { JsonBounds, VALUE_BYTES } from "../domain/json-bounds.ts";
import { parseJson } from "../domain/json-pieces.ts";
import { nextTurn } from "../domain/next-turn.ts";
import { bodyChunks } from "./body-chunks.ts";

const MB = 1024 * 1024;

/** What programs send that did not choose, as `curl -d`, and what a page of any site may send without a preflight. */
const FORM_TYPES: ReadonlySet<string> = new Set(["application/x-www-form-urlencoded", "text/plain"]);

/** A body that takes so many bytes is collected when it has been read. */
const LARGE_BYTES = 4 * MB;

/** Largest request body in bytes, by kind of route. */
export const bodyCeilings = { generation: 100 * MB, tokenizer: 8 * MB, embeddings: MB, batch: MB } as const;

/** What bodies of requests under way may take, for each byte that may be read at once: parsed, a body takes no more than it counts. */
const KEPT_SHARE = 1.5;

/** Bytes that a body takes when it is parsed. */
const memory = (size: number, { values }: JsonBounds): number => size + VALUE_BYTES * values;

/** Reads the JSON bodies of requests within one budget, and keeps account of them until their requests have ended. */
export class JsonBodies {
  private lastTurn: Promise<void> = Promise.resolve();
  /** Of requests under way: what they wait with is memory, too, and they may be many. */
  private readonly kept: BodyBudget;
  private readonly accounts = new WeakMap<Request, BodyAccount>();

  constructor(private readonly budget: BodyBudget) {
    this.kept = new BodyBudget(KEPT_SHARE * budget.most, "bodies of requests under way");
  }

  /** The request has ended: it holds its body no more. */
  release(request: Request): void {
    this.accounts.get(request)?.close();
  }

  /**
   * Reads and parses the body, which may have `ceiling` bytes; `alsoForm`: it might have been a form. Throws SvcError
   * `unsupported_media_type`, `payload_too_large`, `invalid_json`, `request_timeout` or `server_busy`, and the signal's reason when
   * the client left meanwhile.
   */
  async read(request: Request, ceiling: number, { alsoForm = false } = {}): Promise<unknown> {
    checkMediaType(request.headers, alsoForm);
    const account = this.budget.open();
    const bounds = new JsonBounds();
    let size = 0;
    try {
      const chunks = await readChunks(request, ceiling, bounds, (bytes) => account.hold(bytes));
      size = chunks.reduce((sum, { length }) => sum + length, 0);
      if (size === 0) throw new SvcError("invalid_json", "The request body is empty; a JSON object is expected.");
      this.keep(request, memory(size, bounds));
      return await parseJson(chunks, () => this.turn()).catch((error: unknown) => {
        if (error instanceof SyntaxError) throw invalid("valid JSON", size);
        throw error instanceof TypeError ? invalid("valid UTF-8", size) : error;
      });
    } finally {
      account.close();
      // Until then it takes memory beside what the budget lets in; this does not wait for it.
      if (memory(size, bounds) >= LARGE_BYTES) Bun.gc(false);
    }
  }

  private keep(request: Request, bytes: number): void {
    const account = this.kept.open();
    account.hold(bytes);
    this.accounts.set(request, account);
  }

  /** A turn of the event loop that nothing of another large body is parsed in. */
  private turn(): Promise<void> {
    return (this.lastTurn = this.lastTurn.then(nextTurn));
  }
}

/**
 * The bytes of the body; `hold` gets their number as they come. They are not parsed meanwhile: Bun stops reading from whoever
 * is kept waiting, and may not go on with the next request of the connection.
 */
async function readChunks(
  request: Request,
  ceiling: number,
  bounds: JsonBounds,
  hold: (size: number) => void,
): Promise<Uint8Array[]> {
  const stated = request.headers.get("content-length");
  if (Number(stated) > ceiling) throw tooLarge(ceiling, `${Number(stated)} bytes`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of bodyChunks(request)) {
      size += chunk.length;
      if (size > ceiling) throw tooLarge(ceiling, `more than ${ceiling} bytes`);
      hold(size);
      const excess = bounds.push(chunk);
      if (excess) throw new SvcError("invalid_json", `The request body ${excess}.`);
      chunks.push(chunk);
    }
  } catch (error) {
    request.signal.throwIfAborted();
    throw error;
  }
  return chunks;
}

const invalid = (what: string, size: number): SvcError =>
  new SvcError("invalid_json", `The request body is not ${what} (${size} bytes received).`);

/** JSON or nothing stated; what a form of a page sends, only where no page sends it: it comes without a preflight. */
function checkMediaType(headers: Headers, alsoForm: boolean): void {
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  const isForm = type !== undefined && FORM_TYPES.has(type);
  const isJson = !type || type === "application/json" || /^application\/[\w.-]+\+json$/.test(type);
  if (!isJson && !(isForm && !isFromPage(headers))) {
    const known = alsoForm ? "multipart/form-data or application/json" : "application/json";
    const got = isForm ? `${type}, which is not taken from browsers` : shownType(type);
    throw new SvcError("unsupported_media_type", `Content-Type must be ${known}; got ${got}.`);
  }
  const encoding = headers.get("content-encoding")?.trim().toLowerCase();
  if (encoding && encoding !== "identity") {
    throw new SvcError("unsupported_media_type", "Content-Encoding must be identity: send the body uncompressed.");
  }
}

/** What clients send by mistake; nothing else of a header stands in a message. */
const KNOWN_TYPES =
  /^(?:audio\/(?:wav|x-wav|mpeg|mp4|ogg|flac|webm)|image\/(?:png|jpeg|gif|webp)|application\/(?:pdf|xml|octet-stream)|text\/html|multipart\/form-data)$/;

const shownType = (type: string): string => (KNOWN_TYPES.test(type) ? type : "another type");

/** Browsers say where a request comes from, and pages cannot keep them from it. */
function isFromPage(headers: Headers): boolean {
  return headers.has("origin") || [...headers.keys()].some((name) => name.startsWith("sec-fetch-"));
}

/** What is thrown about a longer body. Agents look for "too long" and then shorten the conversation. */
export function tooLarge(ceiling: number, received: string): SvcError {
  const message = `The request body is too long: this route accepts ${ceiling / MB} MB; got ${received}.`;
  return new SvcError("payload_too_large", message);
}
