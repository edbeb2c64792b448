// What every stream keeps to, whatever its dialect: it ends exactly once, its terminator is last, and failures are chunks of it.

import { typedError, type SvcError } from "../../domain/errors.ts";
import type { AcceptedEvent } from "../../domain/generate.ts";

/** Terminator of streams whose chunks are data alone, and of the Responses API's. */
export const DONE = "[DONE]";

/** A chunk of a dialect with named events. */
export interface NamedEvent {
  readonly event: string;
  readonly data: string;
}

/** Takes a chunk for the client. */
export type Put<Chunk> = (chunk: Chunk) => void;

/** How a dialect writes its stream: each method puts the chunks of its moment, any number of them. */
export interface StreamWriter<Event> {
  /** Before the first event. */
  begin?(): void;
  event(event: Event): void;
  /** After the last event of a stream that did not fail. */
  end?(): void;
  /** In place of `end`. */
  failure?(error: SvcError): void;
  /** After any end, also when the client disconnected; what it puts is not sent. */
  close?(): void;
}

/** What a writer may need to know of the request whose answer it writes. */
export interface StreamedRequest extends Pick<AcceptedEvent, "promptTokens" | "readInputs"> {
  /** Correlation id. */
  readonly requestId: string;
}

interface StreamOptions<Chunk> {
  /** Aborted when the client disconnects; a pending `next` of the events must then settle. */
  readonly signal: AbortSignal;
  /** The last chunk, after a failure as well. */
  readonly terminator?: Chunk | undefined;
  /** Takes a failure that is no SvcError; the client reads a fixed sentence. */
  readonly onUnexpected: (error: unknown) => void;
}

/**
 * Yields what the writer puts, then the terminator; after an abort the stream just ends. Returns `events` however it ends.
 * Throws only what the writer's `failure` throws.
 */
export async function* streamed<Event, Chunk>(
  events: AsyncIterator<Event>,
  open: (put: Put<Chunk>) => StreamWriter<Event>,
  { signal, terminator, onUnexpected }: StreamOptions<Chunk>,
): AsyncGenerator<Chunk, void, void> {
  // One list for the whole stream: a token costs no list or generator of its own.
  const chunks: Chunk[] = [];
  const put = (chunk: Chunk) => void chunks.push(chunk);
  const writer = open(put);
  try {
    try {
      writer.begin?.();
      for (;;) {
        for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) yield chunk;
        const { value, done } = await events.next();
        if (done) break;
        writer.event(value);
      }
      if (signal.aborted) return;
      writer.end?.();
    } catch (error) {
      if (signal.aborted) return;
      const typed = typedError(error, onUnexpected);
      writer.failure?.(typed);
    }
    if (terminator !== undefined) put(terminator);
    for (const chunk of chunks) yield chunk;
  } finally {
    writer.close?.();
    await events.return?.();
  }
}

/** The writer of events that are chunks already. */
export const passThrough = <Chunk>(put: Put<Chunk>): StreamWriter<Chunk> => ({ event: put });
