// The events of one generation → the JSON answer of a chat completion.

import type { ChatCompletion, ChatLogprobs } from "../../contract/chat.ts";
import { SvcError } from "../../domain/errors.ts";
import type { GenerateEvent } from "../../domain/generate.ts";
import type { TokenLogprob } from "../../domain/usage.ts";
import { encodeTimings, encodeUsage } from "./usage.ts";

/** What identifies one answer; constant over all chunks of a stream. */
export interface ChatAnswer {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly systemFingerprint: string;
}

/** Collects the whole answer. Throws what the generation throws. */
export async function encodeChat(
  events: AsyncIterable<GenerateEvent>,
  answer: ChatAnswer,
  withLogprobs: boolean,
): Promise<ChatCompletion> {
  let content = "";
  const logprobs: TokenLogprob[] = [];
  for await (const event of events) {
    if (event.type === "text") {
      content += event.text;
      if (event.logprobs) logprobs.push(...event.logprobs);
    } else if (event.type === "finish") {
      return {
        id: answer.id,
        object: "chat.completion",
        created: answer.created,
        model: answer.model,
        system_fingerprint: answer.systemFingerprint,
        choices: [
          {
            index: 0,
            message: { role: "assistant", content },
            logprobs: withLogprobs ? encodeLogprobs(logprobs) : null,
            finish_reason: event.reason,
          },
        ],
        usage: encodeUsage(event.usage),
        timings: encodeTimings(event.usage),
      };
    }
  }
  throw new SvcError("internal_error", "The generation ended without a finish.");
}

/** Log probabilities of consecutive tokens. */
export const encodeLogprobs = (tokens: readonly TokenLogprob[]): ChatLogprobs => ({
  content: tokens.map(({ token, logprob, bytes, top }) => ({
    token,
    logprob,
    bytes: [...bytes],
    top_logprobs: top.map((other) => ({ ...other, bytes: [...other.bytes] })),
  })),
});
