// The events of one generation → the JSON answer of a chat completion.

import type { ChatCompletion, ChatLogprobs, ProfileDetail } from "../../contract/chat.ts";
import type { AcceptedEvent, GenerateEvent } from "../../domain/generate.ts";
import { usageOf, type TokenLogprob } from "../../domain/usage.ts";
import { answerHead, type AnswerOrigin } from "../fields/answer-origin.ts";
import { encodeReadInputs } from "../fields/read-inputs.ts";
import { collectAll, type CollectedAnswer } from "../stream/collect.ts";
import { encodeProfile } from "./profile.ts";
import { encodeTimings, encodeUsage } from "./usage.ts";

interface ChatAnswerOptions extends Pick<AcceptedEvent, "readInputs"> {
  /** Answers that the events belong to. */
  readonly choices: number;
  readonly withLogprobs: boolean;
  readonly profile?: ProfileDetail | undefined;
}

/** Collects the whole completion, of `choices` answers. Throws what the generation throws. */
export async function encodeChat(
  events: AsyncIterable<GenerateEvent>,
  origin: AnswerOrigin,
  options: ChatAnswerOptions,
): Promise<ChatCompletion> {
  const { choices, withLogprobs, profile } = options;
  const answers = await collectAll(events, choices);
  const finishes = answers.map(({ finish }) => finish);
  const usage = usageOf(finishes, choices);
  return {
    ...answerHead(origin, "chat.completion"),
    choices: answers.map((answer, index) => encodeChoice(answer, index, withLogprobs)),
    usage: encodeUsage(usage),
    timings: encodeTimings(usage),
    ...encodeReadInputs(options),
    ...encodeProfile(profile, usage, finishes.findLast((finish) => finish.profile)?.profile),
  };
}

function encodeChoice(
  answer: CollectedAnswer,
  index: number,
  withLogprobs: boolean,
): ChatCompletion["choices"][number] {
  const { text, reasoning, calls, logprobs, finish } = answer;
  const tool_calls = calls.map(({ id, name, arguments: json }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: json },
  }));
  return {
    index,
    message: {
      role: "assistant",
      // With calls the API has no text beside them.
      content: calls.length > 0 ? null : text,
      refusal: null,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls }),
    },
    logprobs: withLogprobs ? encodeLogprobs(logprobs) : null,
    finish_reason: finish.reason,
  };
}

/** Log probabilities of consecutive tokens. */
export const encodeLogprobs = (tokens: readonly TokenLogprob[]): ChatLogprobs => ({
  content: tokens.map(({ token, logprob, bytes, top }) => ({
    token,
    logprob,
    bytes: [...bytes],
    top_logprobs: top.map((other) => ({ token: other.token, logprob: other.logprob, bytes: [...other.bytes] })),
  })),
  refusal: null,
});
