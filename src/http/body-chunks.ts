// A request's body as it comes, from a client that does not fall silent half-way.

import { SvcError } from "../domain/errors.ts";

/** Longest silence of a client whose body is not whole. */
export const BODY_PATIENCE_MS = 30_000;
/** What a piece has at least, but for the last: whatever its size, each takes memory and time of its own. */
const PIECE_BYTES = 8 * 1024;
/** Up to this size, Bun's stream of a body takes longer to set up than the body to read: it comes in one piece. */
const SMALL_BYTES = 64 * 1024;

/**
 * Yields the body in pieces, of some size even where a client sends it byte by byte. Throws SvcError `request_timeout` when
 * nothing comes for `patienceMs`, and what Bun throws when the client disconnects. How long a piece is worked on does not count.
 */
export const bodyChunks = (request: Request, patienceMs = BODY_PATIENCE_MS): AsyncGenerator<Uint8Array, void, void> =>
  gathered(arriving(request, patienceMs));

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

async function* arriving(request: Request, patienceMs: number): AsyncGenerator<Uint8Array, void, void> {
  const chunks = pieces(request)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { value, done } = await soon(chunks.next(), patienceMs);
      if (done) return;
      yield value;
    }
  } finally {
    // Behind a piece that never comes, this would never be done.
    chunks.return?.().catch(() => {});
  }
}

function pieces(request: Request): AsyncIterable<Uint8Array> {
  const stated = request.headers.get("content-length");
  return stated !== null && Number(stated) <= SMALL_BYTES ? whole(request) : (request.body ?? none());
}

async function* whole(request: Request): AsyncGenerator<Uint8Array, void, void> {
  yield await request.bytes();
}

async function* none(): AsyncGenerator<Uint8Array, void, void> {}

async function soon<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message = `The request body is not whole, and nothing more of it came for ${ms / 1000} seconds.`;
    reject(new SvcError("request_timeout", message));
  }, ms);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
