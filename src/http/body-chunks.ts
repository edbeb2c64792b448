// A request's body as it comes, from a client that does not fall silent half-way.

import { SvcError } from "../domain/errors.ts";

/** Longest silence of a client whose body is not whole. */
export const BODY_PATIENCE_MS = 30_000;
/** Up to this size, Bun's stream of a body takes longer to set up than the body to read: it comes in one piece. */
const SMALL_BYTES = 64 * 1024;

/**
 * Yields the body in pieces. Throws SvcError `request_timeout` when none comes for `patienceMs`, and what Bun throws when the
 * client disconnects. How long a piece is worked on does not count.
 */
export async function* bodyChunks(
  request: Request,
  patienceMs = BODY_PATIENCE_MS,
): AsyncGenerator<Uint8Array, void, void> {
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
