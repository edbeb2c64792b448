// The events of a completion → the data of its server-sent events, terminator included.

import { errorObject } from "../../contract/errors.ts";
import type { FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import { usageOf } from "../../domain/usage.ts";
import type { AnswerOrigin } from "../fields/answer-origin.ts";
import type { StreamContext } from "../fields/stream.ts";
import { typedError } from "../fields/typed-error.ts";
import { encodeUsage } from "../chat/usage.ts";
import type { CompletionCall } from "./decode.ts";
import { encodeLogprobs, finishReason } from "./encode.ts";

/**
 * Yields echo and text chunks, a finish chunk for each answer, a usage chunk when it is wanted, and `[DONE]`. A failure
 * becomes a chunk with a top-level `error` before `[DONE]`; after an abort the stream just ends. Never throws.
 */
export async function* encodeCompletionStream(
  events: AsyncIterator<GenerateEvent>,
  answer: AnswerOrigin,
  call: CompletionCall,
  { requestId, signal, onUnexpected }: Omit<StreamContext, "promptTokens">,
): AsyncGenerator<string, void, void> {
  const { id, created, model, systemFingerprint } = answer;
  const object = "text_completion";
  const head = JSON.stringify({ id, object, created, model, system_fingerprint: systemFingerprint }).slice(0, -1);
  const chunk = (index: number, text: string, reason: string | null, logprobs: unknown = null) =>
    `${head},"choices":[${JSON.stringify({ text, index, logprobs, finish_reason: reason })}]}`;
  const written = new Map<number, number>();
  const finishes: FinishEvent[] = [];
  try {
    for (const [prompt, echo] of call.echoes.entries()) {
      for (let n = 0; echo !== "" && n < call.made; n++) yield chunk(prompt * call.made + n, echo, null);
    }
    for (let next = await events.next(); !next.done; next = await events.next()) {
      const event = next.value;
      if (event.type === "accepted") continue;
      const index = event.choice ?? 0;
      if (event.type === "finish") {
        finishes[index] = event;
        yield chunk(index, "", call.echoAlone ? "length" : finishReason(event));
      } else if (event.type === "text" && !call.echoAlone) {
        const before = written.get(index) ?? 0;
        const logprobs = call.withLogprobs ? encodeLogprobs(event.logprobs ?? [], before) : null;
        written.set(index, before + event.text.length);
        yield chunk(index, event.text, null, logprobs);
      }
    }
    const cancelled = finishes.some(({ reason }) => reason === "cancelled");
    if (call.includeUsage && !cancelled) {
      yield `${head},"choices":[],"usage":${JSON.stringify(encodeUsage(usageOf(finishes, call.made)))}}`;
    }
    yield "[DONE]";
  } catch (error) {
    if (signal.aborted) return;
    const marker = JSON.stringify(errorObject(typedError(error, onUnexpected), requestId));
    yield `${chunk(0, "", "error").slice(0, -1)},"error":${marker}}`;
    yield "[DONE]";
  } finally {
    await events.return?.();
  }
}
