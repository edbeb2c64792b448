// Streams bytes as they are generated as a response body, only as fast as the client reads them.

import { READER_PATIENCE_MS, type BodyOptions, type StreamedBody } from "./sse.ts";

/** Returns the body. A failure of the source aborts it: part of a file must not pass for the whole. */
export function byteStream(
  source: AsyncGenerator<Uint8Array, void, void>,
  { signal, abort, ends, readerPatienceMs = READER_PATIENCE_MS }: BodyOptions,
): StreamedBody {
  const closed = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let patience: Timer | undefined;
  let over = false;
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
        try {
          const { value, done } = await source.next();
          if (over) return;
          patience = setTimeout(abort, readerPatienceMs);
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
