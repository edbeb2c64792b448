// The events of one generation → the data of a chat completion's server-sent events, terminator included.

import { errorObject } from "../../contract/errors.ts";
import { SvcError } from "../../domain/errors.ts";
import type { FinishEvent, GenerateEvent, TextEvent } from "../../domain/generate.ts";
import { encodeLogprobs, type ChatAnswer } from "./encode.ts";
import { encodeTimings, encodeUsage } from "./usage.ts";

export interface StreamOptions {
  readonly answer: ChatAnswer;
  readonly includeUsage: boolean;
  /** Correlation id, told in the error of a stream that fails. */
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Told about a failure that is no SvcError; the client reads a fixed sentence. */
  readonly onUnexpected: (error: unknown) => void;
}

const DONE = "[DONE]";

/**
 * Yields role chunk, content chunks, finish chunk, usage chunk, `[DONE]`. `events` has given `accepted` already. A
 * failure becomes an error-marked chunk before `[DONE]`; after an abort the stream just ends. Never throws.
 */
export async function* encodeChatStream(
  events: AsyncIterator<GenerateEvent>,
  options: StreamOptions,
): AsyncGenerator<string, void, void> {
  const chunk = chunkWriter(options.answer);
  try {
    yield chunk.role();
    for (;;) {
      const { value: event, done } = await events.next();
      if (done) break;
      if (event.type === "text") yield chunk.text(event);
      else if (event.type === "finish") {
        yield chunk.finish(event);
        if (options.includeUsage && event.reason !== "cancelled") yield chunk.usage(event);
      }
    }
    yield DONE;
  } catch (error) {
    if (options.signal.aborted) return;
    yield chunk.failure(typed(error, options.onUnexpected), options.requestId);
    yield DONE;
  } finally {
    await events.return?.();
  }
}

function typed(error: unknown, onUnexpected: (error: unknown) => void): SvcError {
  if (error instanceof SvcError) return error;
  onUnexpected(error);
  return new SvcError("internal_error", "An internal error occurred.");
}

/** Writes chunks as JSON text; all but the delta is the same in every chunk and prepared once. */
function chunkWriter({ id, created, model, systemFingerprint }: ChatAnswer) {
  const object = "chat.completion.chunk";
  const head = JSON.stringify({ id, object, created, model, system_fingerprint: systemFingerprint }).slice(0, -1);
  const open = `${head},"choices":[{"index":0,"delta":`;
  const unfinished = `,"finish_reason":null}]}`;
  return {
    role: () => `${open}{"role":"assistant","content":""}${unfinished}`,
    text: ({ text, logprobs }: TextEvent) => {
      const extra = logprobs ? `,"logprobs":${JSON.stringify(encodeLogprobs(logprobs))}` : "";
      return `${open}{"content":${JSON.stringify(text)}}${extra}${unfinished}`;
    },
    finish: ({ reason }: FinishEvent) => `${open}{},"finish_reason":"${reason}"}]}`,
    usage: ({ usage }: FinishEvent) =>
      `${head},"choices":[],"usage":${JSON.stringify(encodeUsage(usage))},` +
      `"timings":${JSON.stringify(encodeTimings(usage))}}`,
    failure: (error: SvcError, requestId: string) => {
      // For clients that know nothing of `error`, people at least read what happened.
      const content = JSON.stringify(`\n\n[error] ${error.message}`);
      const marker = JSON.stringify(errorObject(error, requestId));
      return `${open}{"content":${content}},"finish_reason":"error"}],"error":${marker}}`;
    },
  };
}
