// Streams bytes as they are generated as a response body, only as fast as the client reads them.

import { READER_PATIENCE_MS, type BodyOptions, type StreamedBody } from "./sse.ts";

interface ByteStreamOptions extends BodyOptions {
  /** Bytes that a reader must take within its patience; default: any. */
  readonly leastBytes?: number;
}

/** Returns the body. A failure of the source aborts it: part of a file must not pass for the whole. */
export function byteStream(
  source: AsyncGenerator<Uint8Array, void, void>,
  { signal, abort, ends, readerPatienceMs = READER_PATIENCE_MS, leastBytes = 0 }: ByteStreamOptions,
): StreamedBody {
  const closed = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let patience: Timer | undefined;
  let over = false;
  // Since the reader last took its least: bytes taken, and milliseconds spent waiting for the reader.
  let [taken, waited] = [0, 0];
  let handed: { readonly bytes: number; readonly at: number } | undefined;
  const isSlow = (): boolean => {
    if (!handed) return false;
    taken += handed.bytes;
    waited += performance.now() - handed.at;
    if (taken >= leastBytes) [taken, waited] = [0, 0];
    return waited >= readerPatienceMs;
  };
  const end = (finish: () => void) => {
    if (over) return;
    over = true;
    ends?.();
    finish();
  };
  const leave = async () => {
    clearTimeout(patience);
    end(() => controller?.error(signal.reason));
    // A generator that never began would not run its own clean-up on return.
    await source.next().catch(() => {});
    await source.return();
    closed.resolve();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (own) => void (controller = own),
      async pull(own) {
        clearTimeout(patience);
        if (isSlow()) return abort();
        try {
          const { value, done } = await source.next();
          if (over) return;
          patience = setTimeout(abort, readerPatienceMs - waited);
          handed = { bytes: value?.length ?? 0, at: performance.now() };
          if (!done) return own.enqueue(value);
          end(() => own.close());
        } catch (error) {
          end(() => own.error(error));
        }
        clearTimeout(patience);
        closed.resolve();
      },
      cancel: abort,
    },
    { highWaterMark: 0 },
  );
  if (signal.aborted) void leave();
  else signal.addEventListener("abort", () => void leave(), { once: true });
  return { body, ended: closed.promise };
}
