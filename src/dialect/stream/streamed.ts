// Rules for streams of all dialects: a stream ends exactly once, its terminator comes last, and failures are chunks.

import { typedError, type SvcError } from "../../domain/errors.ts";
import type { AcceptedEvent } from "../../domain/generate.ts";

/** Terminator of streams with unnamed events, and of the Responses API's streams. */
export const DONE = "[DONE]";

/** A chunk of a dialect with named events. */
export interface NamedEvent<Data = string> {
  readonly event: string;
  readonly data: Data;
}

/** A chunk whose data may come in parts, each made when it is sent. */
export type LongEvent = NamedEvent<string | Iterable<string>>;

/** Queues a chunk for the client. */
export type Put<Chunk> = (chunk: Chunk) => void;

/** How a dialect writes its stream: each method puts any number of chunks. */
export interface StreamWriter<Event> {
  /** Called before the first event. */
  begin?(): void;
  event(event: Event): void;
  /** Called after the last event of a stream that did not fail. */
  end?(): void;
  /** Called instead of `end` when the stream failed. */
  failure?(error: SvcError): void;
  /** Called after any end, also after a disconnect; chunks that it puts are not sent. */
  close?(): void;
}

/** What a writer may need to know about its request. */
export interface StreamedRequest extends Pick<AcceptedEvent, "promptTokens" | "readInputs"> {
  /** Correlation id. */
  readonly requestId: string;
}

interface StreamOptions<Chunk> {
  /** Aborted when the client disconnects; a pending `next` of the events must then settle. */
  readonly signal: AbortSignal;
  /** The last chunk, also after a failure. */
  readonly terminator?: Chunk | undefined;
  /** Receives a failure that is not an SvcError; the client gets a fixed message. */
  readonly onUnexpected: (error: unknown) => void;
}

/**
 * Yields what the writer puts, then the terminator; after an abort the stream just ends. Closes `events` however it
 * ends. Throws only what the writer's `failure` throws.
 */
export async function* streamed<Event, Chunk>(
  events: AsyncIterator<Event>,
  open: (put: Put<Chunk>) => StreamWriter<Event>,
  { signal, terminator, onUnexpected }: StreamOptions<Chunk>,
): AsyncGenerator<Chunk, void, void> {
  // One list for the whole stream, so that a token allocates no list or generator.
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

/** Passes on events that are chunks already. */
export const passThrough = <Chunk>(put: Put<Chunk>): StreamWriter<Chunk> => ({ event: put });
