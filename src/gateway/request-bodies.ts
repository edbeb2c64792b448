// Writes the bodies of requests to upstreams as JSON: long ones in parts, so that they do not block the event loop, and
// only as many at the same time as fit in memory.

import { memoryOf } from "../domain/json-bounds.ts";
import { jsonParts } from "../domain/json-parts.ts";
import { Semaphore } from "../domain/semaphore.ts";
import { TurnLimit } from "../domain/turn-limit.ts";
import { withWholePairs } from "../domain/whole-pairs.ts";

/** Maximum bytes of all long bodies: each of the answers to one request may need a body of up to 100 MB. */
const LONG_BODIES_BYTES = 256 * 2 ** 20;
/** Bytes up to which a body is written at once, and is not counted. */
const SHORT = 64 * 1024;
/** Characters of all bodies to write per turn of the event loop. */
const CHARACTERS_IN_A_TURN = 128 * 1024;

export class RequestBodies {
  private readonly turns = new TurnLimit(CHARACTERS_IN_A_TURN);

  constructor(private readonly memory = new Semaphore(LONG_BODIES_BYTES)) {}

  /**
   * Calls `post` with a body as JSON, once there is memory for it, and counts that memory until the returned promise
   * settles. Throws the error of `post`, or the signal's reason.
   */
  send<T>(body: unknown, signal: AbortSignal, post: (json: string | Blob) => Promise<T>): Promise<T> {
    const bytes = memoryOf(body);
    // Servers fail at lone surrogates with an internal error, which would make them look sick.
    if (bytes <= SHORT) return post(withWholePairs(JSON.stringify(body)));
    return this.memory.run(bytes, signal, async () => post(await this.written(body, bytes, signal)));
  }

  /** Returns a Blob, which `fetch` does not copy. */
  private async written(body: unknown, bytes: number, signal: AbortSignal): Promise<Blob> {
    const sink = new Bun.ArrayBufferSink();
    sink.start({ asUint8Array: true, highWaterMark: bytes });
    for (const part of jsonParts(body)) {
      const turn = this.turns.enter(part.length);
      if (turn) await turn;
      signal.throwIfAborted();
      sink.write(withWholePairs(part));
    }
    // The copy for the Blob is made at once, and bodies that began together end together.
    const turn = this.turns.enter(bytes);
    if (turn) await turn;
    signal.throwIfAborted();
    return new Blob([sink.end() as Uint8Array<ArrayBuffer>]);
  }
}
