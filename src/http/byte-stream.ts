// Bytes as they are made, as one response body: read only as fast as the client takes them.

export interface ByteStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when the body is closed, broken off or cancelled. */
  readonly ended: Promise<void>;
}

export interface ByteStreamOptions {
  /** Called when the client leaves; is to end the source. */
  readonly abort: () => void;
  /** Called just before the body is closed or broken off. */
  readonly ends: () => void;
}

/** A failure of the source breaks the body off: a part of a file must not pass for the whole. */
export function byteStream(
  source: AsyncGenerator<Uint8Array, void, void>,
  { abort, ends }: ByteStreamOptions,
): ByteStream {
  const closed = Promise.withResolvers<void>();
  const close = (finish: () => void) => {
    ends();
    finish();
    closed.resolve();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await source.next();
          if (done) close(() => controller.close());
          else controller.enqueue(value);
        } catch (error) {
          close(() => controller.error(error));
        }
      },
      async cancel() {
        abort();
        await source.return();
        closed.resolve();
      },
    },
    { highWaterMark: 0 },
  );
  return { body, ended: closed.promise };
}
