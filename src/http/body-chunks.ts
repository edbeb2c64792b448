// Reads a request's body as it arrives: refuses a compressed one, and fails when the client stops sending half-way.

import { FREE_BYTES } from "../domain/byte-budget.ts";
import { SvcError } from "../domain/errors.ts";
import { within } from "../domain/within.ts";

/** Longest silence, in milliseconds, of a client that is still sending a body. */
export const BODY_PATIENCE_MS = 30_000;
/**
 * What a body above `FREE_BYTES` must bring within that time: from there on, it takes room of others' bodies. Speech that
 * is sent while it is recorded brings more, even at the lowest rate of AMR (4.75 kbit/s).
 */
export const LEAST_BYTES = 16 * 1024;
/** Minimum size of every piece but the last, because each piece costs memory and time whatever its size. */
const PIECE_BYTES = 8 * 1024;
/** Up to this size, setting up Bun's body stream takes longer than reading the body, which is then one piece. */
export const SMALL_BYTES = 64 * 1024;

/** Throws SvcError `unsupported_media_type` when a body is compressed. */
export function checkEncoding({ headers }: Request): void {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase();
  if (!encoding || encoding === "identity") return;
  throw new SvcError("unsupported_media_type", "Content-Encoding must be identity: send the body uncompressed.");
}

/**
 * Yields the body in pieces of a minimum size, even when the client sends single bytes. Throws SvcError
 * `request_timeout` when nothing, or too little of a large body, arrives within `patienceMs`, and whatever Bun throws
 * when the client disconnects. Time spent processing a piece does not count. `now`: monotonic milliseconds.
 */
export function bodyChunks(
  request: Request,
  patienceMs = BODY_PATIENCE_MS,
  now = () => performance.now(),
): AsyncGenerator<Uint8Array, void, void> {
  const stated = request.headers.get("content-length");
  if (stated !== null && Number(stated) <= SMALL_BYTES) return whole(request, patienceMs);
  return gathered(arriving(request.body ?? none(), patienceMs, now));
}

async function* whole(request: Request, patienceMs: number): AsyncGenerator<Uint8Array, void, void> {
  const body = await within(request.bytes(), patienceMs, () => silent(patienceMs));
  if (body.length > 0) yield body;
}

async function* gathered(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  let piece = new Uint8Array(PIECE_BYTES);
  let length = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      if (length === 0 && chunk.length - at >= PIECE_BYTES) {
        yield chunk.subarray(at);
        break;
      }
      const part = chunk.subarray(at, at + PIECE_BYTES - length);
      piece.set(part, length);
      at += part.length;
      length += part.length;
      if (length < PIECE_BYTES) continue;
      yield piece;
      piece = new Uint8Array(PIECE_BYTES);
      length = 0;
    }
  }
  if (length > 0) yield piece.subarray(0, length);
}

async function* arriving(
  body: AsyncIterable<Uint8Array>,
  patienceMs: number,
  now: () => number,
): AsyncGenerator<Uint8Array, void, void> {
  const chunks = body[Symbol.asyncIterator]();
  let total = 0;
  // Of a large body since it last brought its least: bytes, and milliseconds that were spent waiting for them.
  let [brought, waited] = [0, 0];
  try {
    for (;;) {
      const late = () => (brought > 0 ? slow(patienceMs) : silent(patienceMs));
      const began = now();
      const { value, done } = await within(chunks.next(), patienceMs - waited, late);
      if (done) return;
      total += value.length;
      if (total > FREE_BYTES) {
        brought += value.length;
        waited += now() - began;
        if (brought >= LEAST_BYTES) [brought, waited] = [0, 0];
        else if (waited >= patienceMs) throw slow(patienceMs);
      }
      yield value;
    }
  } finally {
    // Not awaited: while a piece is pending that never arrives, it would not settle.
    chunks.return?.().catch(() => {});
  }
}

async function* none(): AsyncGenerator<Uint8Array, void, void> {}

function silent(ms: number): SvcError {
  const message = `The request body is incomplete, and nothing more arrived for ${ms / 1000} seconds.`;
  return new SvcError("request_timeout", message);
}

function slow(ms: number): SvcError {
  const [free, least] = [FREE_BYTES / 2 ** 20, LEAST_BYTES / 1024];
  const message = `The request body arrives too slowly: beyond its first ${free} MiB, at least ${least} KiB must arrive in any ${ms / 1000} seconds.`;
  return new SvcError("request_timeout", message);
}
