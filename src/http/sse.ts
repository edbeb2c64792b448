// Server-sent events over one response body: coalesced, heartbeats while silent, bounded for a slow reader, and over
// at once when the reader leaves.

/** Characters that wait for a slow reader before the source is left waiting too. */
const MOST_WAITING = 64 * 1024;
const HEARTBEAT = ": ping\n\n";

export interface EventStreamOptions {
  /** Silence in milliseconds after which a comment is sent. */
  readonly heartbeatMs: number;
  /** What is sent then; default: a comment. */
  readonly heartbeat?: string;
  /** `ndjson`: the frames are lines, and nothing comes between them. */
  readonly format?: "sse" | "ndjson";
  /** Aborted when the reader is gone; a pending `next` of the source must then settle. */
  readonly signal: AbortSignal;
  /** Called when the body is cancelled; is to abort `signal`. */
  readonly abort: () => void;
}

/** The data of an event, or with its name. */
export type Frame = string | { readonly event: string; readonly data: string };

const sseFrame = (frame: Frame): string =>
  typeof frame === "string" ? `data: ${frame}\n\n` : `event: ${frame.event}\ndata: ${frame.data}\n\n`;
/** Lines that bring their own line feed. */
const plainFrame = (frame: Frame): string => (typeof frame === "string" ? frame : frame.data);

export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when the source has ended and the body is closed or cancelled. */
  readonly ended: Promise<void>;
}

/** Sends each frame of `source` as one event. The source must not throw; it brings its own terminator. */
export function eventStream(source: AsyncIterator<Frame>, options: EventStreamOptions): EventStream {
  const { heartbeatMs, heartbeat: beat = HEARTBEAT, format = "sse", signal, abort } = options;
  const outbox = new Outbox();
  const heartbeat = setInterval(() => format === "sse" && outbox.isEmpty && outbox.put(beat), heartbeatMs);
  const closed = Promise.withResolvers<void>();
  const close = () => {
    clearInterval(heartbeat);
    outbox.end();
    closed.resolve();
  };
  signal.addEventListener("abort", close, { once: true });

  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = await outbox.take();
        if (signal.aborted) return controller.error(signal.reason);
        heartbeat.refresh();
        if (text !== "") controller.enqueue(encoder.encode(text));
        if (!outbox.isFinished) return;
        controller.close();
        close();
      },
      cancel: abort,
    },
    { highWaterMark: 0 },
  );
  const pumped = pump(source, outbox, signal, format === "sse" ? sseFrame : plainFrame).finally(() => outbox.end());
  return { body, ended: Promise.all([pumped, closed.promise]).then(() => {}) };
}

/** Reads ahead of the body, so that whatever is ready goes out in one write. */
async function pump(
  source: AsyncIterator<Frame>,
  outbox: Outbox,
  signal: AbortSignal,
  write: (frame: Frame) => string,
): Promise<void> {
  try {
    // At least once, also after an abort: a generator that never began would not run its own clean-up on return.
    do {
      const { value, done } = await source.next();
      if (done) return;
      outbox.put(write(value));
      if (outbox.isFull) await outbox.hasRoom();
    } while (!signal.aborted);
  } finally {
    await source.return?.();
  }
}

/** Text between a writer that is held back when it is full and a reader that takes everything at once. */
class Outbox {
  private text = "";
  private ended = false;
  private reader: (() => void) | undefined;
  private writer: (() => void) | undefined;
  private scheduled = false;

  get isEmpty(): boolean {
    return this.text === "";
  }

  get isFull(): boolean {
    return this.text.length >= MOST_WAITING && !this.ended;
  }

  get isFinished(): boolean {
    return this.ended && this.isEmpty;
  }

  put(text: string): void {
    this.text += text;
    this.wakeReader();
  }

  end(): void {
    this.ended = true;
    this.wakeReader();
    this.writer?.();
  }

  /** Resolves after the next `take` or `end`. */
  hasRoom(): Promise<void> {
    return new Promise((resolve) => (this.writer = resolve));
  }

  /** Everything there is, as soon as there is something; empty only at the end. */
  async take(): Promise<string> {
    if (this.isEmpty && !this.ended) await new Promise<void>((resolve) => (this.reader = resolve));
    const { text } = this;
    this.text = "";
    this.writer?.();
    return text;
  }

  /** Only at the end of this turn of the event loop: what else becomes ready in it joins the same write. */
  private wakeReader(): void {
    if (this.scheduled || !this.reader) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.reader?.();
      this.reader = undefined;
    });
  }
}
