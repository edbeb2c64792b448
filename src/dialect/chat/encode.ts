// Encodes the events of one generation as the JSON answer of a chat completion.

import type { ChatCompletion, ChatLogprobs, ProfileDetail } from "../../contract/chat.ts";
import type { AcceptedEvent, GenerateEvent } from "../../domain/generate.ts";
import { usageOf, type TokenLogprob } from "../../domain/usage.ts";
import { answerHead, type AnswerOrigin } from "../fields/answer-head.ts";
import { encodeReadInputs } from "../fields/read-inputs.ts";
import { encodeTimings, encodeUsage } from "../fields/usage.ts";
import { collectAll, type CollectedAnswer } from "../stream/collect.ts";
import { encodeProfile } from "./profile.ts";

interface ChatAnswerOptions extends Pick<AcceptedEvent, "readInputs"> {
  /** Number of answers that the events belong to. */
  readonly choices: number;
  readonly withLogprobs: boolean;
  readonly profile?: ProfileDetail | undefined;
}

/** Collects and encodes the whole completion of `choices` answers. Throws what the generation throws. */
export async function encodeChat(
  events: AsyncIterable<GenerateEvent>,
  origin: AnswerOrigin,
  options: ChatAnswerOptions,
): Promise<ChatCompletion> {
  const { choices, withLogprobs, profile } = options;
  const answers = await collectAll(events, choices, encodeLogprob);
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
  { text, reasoning, calls, logprobs, finish }: CollectedAnswer<EncodedLogprob>,
  index: number,
  withLogprobs: boolean,
): ChatCompletion["choices"][number] {
  const tool_calls = calls.map(({ id, name, arguments: json }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: json },
  }));
  // In this API, an answer with calls has no text.
  const content = calls.length > 0 ? null : text;
  // Those of text that is not in the answer are not either. Not all models give them.
  const scored = content === null ? [] : logprobs;
  const hasScores = withLogprobs && (scored.length > 0 || !content);
  return {
    index,
    message: {
      role: "assistant",
      content,
      refusal: null,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls }),
    },
    logprobs: hasScores ? { content: scored, refusal: null } : null,
    finish_reason: finish.reason,
  };
}

/** Encodes the log probabilities of consecutive tokens. */
export const encodeLogprobs = (tokens: readonly TokenLogprob[]): ChatLogprobs => ({
  content: tokens.map(encodeLogprob),
  refusal: null,
});

export type EncodedLogprob = ReturnType<typeof encodeLogprob>;

export const encodeLogprob = ({ token, logprob, bytes, top }: TokenLogprob) => ({
  token,
  logprob,
  bytes: [...bytes],
  top_logprobs: top.map((other) => ({ token: other.token, logprob: other.logprob, bytes: [...other.bytes] })),
});
