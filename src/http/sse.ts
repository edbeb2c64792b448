// Sends server-sent events over one response body: coalesced, with heartbeats while silent, bounded for a slow reader,
// and ended at once when the client disconnects.

/** Characters that may wait for a slow reader before the source has to wait too. */
const MOST_WAITING = 64 * 1024;
const HEARTBEAT = ": ping\n\n";
/** Clock ticks of silence before a heartbeat. */
const TICKS = 4;
/** A reader that leaves waiting text unread for this long counts as disconnected, whatever the connection's state. */
export const READER_PATIENCE_MS = 300_000;

export interface BodyOptions {
  /** Aborted when the reader has disconnected; a pending `next` of the source must then settle. */
  readonly signal: AbortSignal;
  /** Milliseconds for which a reader may leave data unread; for events, up to a quarter of a heartbeat more. */
  readonly readerPatienceMs?: number;
  /** Called when the body is cancelled or its reader's patience is over; must abort `signal`. */
  readonly abort: () => void;
  /** Called just before the body is closed or aborted. */
  readonly ends?: () => void;
}

interface EventStreamOptions extends BodyOptions {
  /** Silence in milliseconds after which a heartbeat is sent; it may come up to a quarter earlier. */
  readonly heartbeatMs: number;
  /** Characters that a reader must take within its patience, unless nothing is waiting; default: any. */
  readonly leastRead?: number | undefined;
  /** Text of the heartbeat; default: a comment. */
  readonly heartbeat?: string;
  /** Whether to send a heartbeat at once: headers go out with the first bytes, and the first frame may take long. */
  readonly opens?: boolean;
  /** `ndjson`: the frames are lines without heartbeats between them. */
  readonly format?: "sse" | "ndjson";
}

/** The data of an event, alone or with its name; without line feeds. Long data comes in parts. */
export type Frame = string | { readonly event?: string; readonly data: string | Iterable<string> };

/** What precedes and follows the data of an event. */
interface Around {
  readonly before: (event?: string) => string;
  readonly after: string;
}

const EVENTS: Around = {
  before: (event) => (event === undefined ? "data: " : `event: ${event}\ndata: `),
  after: "\n\n",
};
/** Lines end with their own line feed. */
const LINES: Around = { before: () => "", after: "" };

export interface StreamedBody {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when the source has ended and the body is closed, aborted or cancelled. */
  readonly ended: Promise<void>;
}

/** Sends each frame of `source` as one event. The source must not throw, and yields its own terminator. */
export function eventStream(source: AsyncIterator<Frame>, options: EventStreamOptions): StreamedBody {
  const { heartbeatMs, heartbeat: beat = HEARTBEAT, format = "sse", opens = false, signal, abort, ends } = options;
  const { readerPatienceMs = READER_PATIENCE_MS, leastRead = 0 } = options;
  const closed = Promise.withResolvers<void>();
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let silentTicks = 0;
  const outbox = new Outbox((text, last) => {
    silentTicks = 0;
    taken += text.length;
    if (taken >= leastRead) [taken, notTakenMs] = [0, 0];
    if (text !== "") controller?.enqueue(encoder.encode(text));
    if (!last) return;
    ends?.();
    controller?.close();
    close();
  });
  // Since the reader took its least, or all there was: characters taken, and milliseconds for which more was waiting.
  let [taken, notTakenMs] = [0, 0];
  // The timer keeps ticking while text goes out, because restarting it would cost time for each token.
  const tickMs = heartbeatMs / TICKS;
  const heartbeat = setInterval(() => {
    if (!outbox.isEmpty) {
      notTakenMs += tickMs;
      if (notTakenMs >= readerPatienceMs) abort();
      return;
    }
    [taken, notTakenMs] = [0, 0];
    if (++silentTicks >= TICKS && format === "sse") outbox.put(beat);
  }, tickMs);
  const close = () => {
    clearInterval(heartbeat);
    closed.resolve();
  };
  const body = new ReadableStream<Uint8Array>(
    { start: (own) => void (controller = own), pull: () => outbox.read(), cancel: abort },
    { highWaterMark: 0 },
  );
  const leave = () => {
    outbox.discard();
    ends?.();
    controller?.error(signal.reason);
    close();
  };
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  if (opens) outbox.put(beat);
  const pumped = pump(source, outbox, signal, format === "sse" ? EVENTS : LINES).finally(() => outbox.end());
  return { body, ended: Promise.all([pumped, closed.promise]).then(() => {}) };
}

/** Reads ahead of the body, so that everything that is ready goes out in one write. */
async function pump(
  source: AsyncIterator<Frame>,
  outbox: Outbox,
  signal: AbortSignal,
  { before, after }: Around,
): Promise<void> {
  try {
    // At least once, even after an abort: a generator that never began would not run its own clean-up on return.
    do {
      const { value, done } = await source.next();
      if (done) return;
      if (typeof value === "string") outbox.put(before() + value + after);
      else if (typeof value.data === "string") outbox.put(before(value.event) + value.data + after);
      else {
        outbox.put(before(value.event));
        for (const part of value.data) {
          outbox.put(part);
          if (outbox.isFull) await outbox.drained();
          if (signal.aborted) return;
        }
        outbox.put(after);
      }
      if (outbox.isFull) await outbox.drained();
    } while (!signal.aborted);
  } finally {
    await source.return?.();
  }
}

/** Passes text from a writer, which must wait when it is full, to a reader, which takes everything at once. */
class Outbox {
  private text = "";
  private ended = false;
  /** Whether the last delivery was made, or no more deliveries are wanted. */
  private over = false;
  private reading = false;
  private writer: (() => void) | undefined;
  private scheduled = false;

  /** `deliver` receives the text for each `read` as soon as there is some; `last` is true when no more will follow. */
  constructor(private readonly deliver: (text: string, last: boolean) => void) {}

  get isEmpty(): boolean {
    return this.text === "";
  }

  get isFull(): boolean {
    return this.text.length >= MOST_WAITING && !this.ended;
  }

  put(text: string): void {
    this.text += text;
    this.schedule();
  }

  end(): void {
    this.ended = true;
    this.schedule();
    this.writer?.();
  }

  /** Stops all deliveries. */
  discard(): void {
    this.over = true;
    this.end();
  }

  /** Resolves after the next delivery or `end`. */
  drained(): Promise<void> {
    return new Promise((resolve) => (this.writer = resolve));
  }

  /** Requests one delivery. */
  read(): void {
    this.reading = true;
    this.hand();
  }

  private hand(): void {
    if (this.over || !this.reading || (this.isEmpty && !this.ended)) return;
    const { text } = this;
    this.reading = false;
    this.text = "";
    this.over = this.ended;
    this.deliver(text, this.over);
    this.writer?.();
  }

  /** Delivers at the end of this event loop turn, so that everything else that becomes ready in it goes along. */
  private schedule(): void {
    if (this.scheduled || !this.reading) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.hand();
    });
  }
}
