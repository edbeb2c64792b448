// The body of a response, with its end: what is still read is a request under way.

export interface TrackedBody {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when all of it is read, or its reader is gone. */
  readonly ended: Promise<void>;
}

/** `left`: aborted when the client leaves; nothing is read any more then. */
export function trackedBody(source: ReadableStream<Uint8Array>, left: AbortSignal): TrackedBody {
  const reader = source.getReader();
  const cancel = () => reader.cancel().catch(() => {});
  left.addEventListener("abort", cancel, { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
  return { body, ended: reader.closed.catch(() => {}) };
}
