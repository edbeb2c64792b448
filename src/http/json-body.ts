// Reads JSON request bodies: checks media type, size, UTF-8, nesting and number of values while reading, then the
// syntax. All errors have svc's own wording.

import { ByteBudget, type ByteAccount } from "../domain/byte-budget.ts";
import { SvcError } from "../domain/errors.ts";
import { JsonBounds, VALUE_BYTES } from "../domain/json-bounds.ts";
import { parseJson } from "../domain/json-pieces.ts";
import { nextTurn } from "../domain/next-turn.ts";
import { TurnLimit } from "../domain/turn-limit.ts";
import { bodyChunks, checkEncoding, SMALL_BYTES } from "./body-chunks.ts";

const MB = 1024 * 1024;

const FORM_TYPE = "application/x-www-form-urlencoded";
/** Types that `curl -d` and other programs send by default, and that pages of any site may send without a preflight. */
const FORM_TYPES: ReadonlySet<string> = new Set([FORM_TYPE, "text/plain"]);

/** After a body that takes this many bytes, garbage is collected. */
const LARGE_BYTES = 4 * MB;

/** Largest request body in bytes, by kind of route; `small`: of routes that take a few fields and at most one text. */
export const bodyCeilings = { generation: 100 * MB, tokenizer: 8 * MB, embeddings: 8 * MB, small: MB } as const;

/** Bytes to check at a time, and of all large bodies per turn of the event loop: a few milliseconds of work. */
const CHECKED_IN_A_TURN = MB;

/** The budget for parsed bodies of running requests, as a multiple of the budget for bodies that are being read. */
const KEPT_SHARE = 1.5;

/** Returns the bytes of memory that a parsed body takes. */
const memory = (size: number, { values }: JsonBounds): number => size + VALUE_BYTES * values;

/** Reads JSON bodies of requests within one budget, and accounts for their memory until the requests end. */
export class JsonBodies {
  private readonly arrivals = new TurnLimit(CHECKED_IN_A_TURN);
  private lastTurn: Promise<void> = Promise.resolve();
  /** Budget for the bodies of running requests: there may be many, and while they wait their bodies take memory. */
  private readonly kept: ByteBudget;
  private readonly accounts = new WeakMap<Request, ByteAccount>();

  constructor(private readonly budget: ByteBudget) {
    this.kept = new ByteBudget(KEPT_SHARE * budget.most, "bodies of running requests");
  }

  /** Releases the memory account of a request that has ended. */
  release(request: Request): void {
    this.accounts.get(request)?.close();
  }

  /**
   * Reads and parses the body, which may have `ceiling` bytes. `alsoForm`: the route accepts forms too. Throws SvcError
   * `unsupported_media_type`, `payload_too_large`, `invalid_json`, `request_timeout` or `server_busy`, and what Bun
   * throws when the client disconnects.
   */
  async read(request: Request, ceiling: number, { alsoForm = false } = {}): Promise<unknown> {
    checkMediaType(request.headers, alsoForm);
    checkEncoding(request);
    const account = this.budget.open();
    const bounds = new JsonBounds();
    let size = 0;
    const hold = (bytes: number) => {
      size = bytes;
      account.hold(bytes);
    };
    try {
      const chunks = await this.receive(request, ceiling, bounds, hold);
      if (size === 0) throw new SvcError("invalid_json", "The request body is empty; a JSON object is expected.");
      this.keep(request, memory(size, bounds));
      const begins = String.fromCodePoint(chunks[0]?.[0] ?? 0);
      return await parseJson(chunks, () => this.turn()).catch((error: unknown) => {
        if (error instanceof SyntaxError) throw notJson(request.headers, begins, size);
        throw error instanceof TypeError ? invalid("valid UTF-8", size) : error;
      });
    } finally {
      account.close();
      // Until it is collected, the garbage takes memory beyond the budget. The call does not wait for the collection.
      if (memory(size, bounds) >= LARGE_BYTES) Bun.gc(false);
    }
  }

  /**
   * Returns the bytes of the body, once they are checked; `hold` receives their number as they arrive. Ten connections
   * may bring 50 MB in one turn of the event loop, which takes 100 ms. Bun stops reading from a connection whose bytes
   * wait here.
   */
  private async receive(
    request: Request,
    ceiling: number,
    bounds: JsonBounds,
    hold: (size: number) => void,
  ): Promise<Uint8Array[]> {
    const stated = request.headers.get("content-length");
    if (Number(stated) > ceiling) throw tooLarge(ceiling, `${Number(stated)} bytes`);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of bodyChunks(request)) {
      size += chunk.length;
      if (size > ceiling) throw tooLarge(ceiling, `more than ${ceiling} bytes`);
      hold(size);
      // One chunk may have 6 MB.
      for (let at = 0; at < chunk.length; at += CHECKED_IN_A_TURN) {
        const piece = chunk.subarray(at, at + CHECKED_IN_A_TURN);
        const turn = size > SMALL_BYTES ? this.arrivals.enter(piece.length) : undefined;
        if (turn) await turn;
        const excess = bounds.push(piece);
        if (excess) throw new SvcError("invalid_json", `The request body ${excess}.`);
      }
      chunks.push(chunk);
    }
    return chunks;
  }

  private keep(request: Request, bytes: number): void {
    const account = this.kept.open();
    account.hold(bytes);
    this.accounts.set(request, account);
  }

  /** Waits for an event loop turn in which no other large body is parsed. */
  private turn(): Promise<void> {
    return (this.lastTurn = this.lastTurn.then(nextTurn));
  }
}

const invalid = (what: string, size: number): SvcError =>
  new SvcError("invalid_json", `The request body is not ${what} (${size} bytes received).`);

/** Returns the error for a body that is no JSON. `curl -d` sends any text as a form: only the body differs. */
function notJson(headers: Headers, begins: string, size: number): SvcError {
  const type = mediaType(headers);
  if (type !== FORM_TYPE || !/\w/.test(begins)) return invalid("valid JSON", size);
  return new SvcError("unsupported_media_type", `The request body must be JSON, as application/json; got ${type}.`);
}

const mediaType = (headers: Headers) => headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();

/** Allows JSON or no type; and types of HTML forms, which need no preflight, unless a page sends them. */
function checkMediaType(headers: Headers, alsoForm: boolean): void {
  const type = mediaType(headers);
  const isForm = type !== undefined && FORM_TYPES.has(type);
  const isJson = !type || type === "application/json" || /^application\/[\w.-]+\+json$/.test(type);
  if (!isJson && !(isForm && !isFromPage(headers))) {
    const known = alsoForm ? "multipart/form-data or application/json" : "application/json";
    const got = isForm ? `${type}, which is not taken from browsers` : shownType(type);
    throw new SvcError("unsupported_media_type", `Content-Type must be ${known}; got ${got}.`);
  }
}

/** Types that clients send by mistake; messages repeat no other text of a header. */
const KNOWN_TYPES =
  /^(?:audio\/(?:wav|x-wav|mpeg|mp4|ogg|flac|webm)|image\/(?:png|jpeg|gif|webp)|application\/(?:pdf|xml|octet-stream)|text\/html|multipart\/form-data)$/;

const shownType = (type: string): string => (KNOWN_TYPES.test(type) ? type : "another type");

/** Returns whether a page sent the request: browsers state its origin, and pages cannot prevent that. */
function isFromPage(headers: Headers): boolean {
  return headers.has("origin") || [...headers.keys()].some((name) => name.startsWith("sec-fetch-"));
}

/** Returns the error for a longer body. Agents look for "too long" and then shorten the conversation. */
export function tooLarge(ceiling: number, received: string): SvcError {
  const message = `The request body is too long: this route accepts ${ceiling / MB} MiB; got ${received}.`;
  return new SvcError("payload_too_large", message);
}
