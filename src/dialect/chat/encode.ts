// Encodes the events of one generation as the JSON answer of a chat completion.

import type { ChatCompletion, ChatLogprobs, ProfileDetail } from "../../contract/chat.ts";
import type { AcceptedEvent, GenerateEvent } from "../../domain/generate.ts";
import { usageOf, type TokenLogprob } from "../../domain/usage.ts";
import { TurnLimit } from "../../domain/turn-limit.ts";
import { answerHead, type AnswerOrigin } from "../fields/answer-origin.ts";
import { encodeReadInputs } from "../fields/read-inputs.ts";
import { collectAll, type CollectedAnswer } from "../stream/collect.ts";
import { encodeProfile } from "./profile.ts";
import { encodeTimings, encodeUsage } from "./usage.ts";

interface ChatAnswerOptions extends Pick<AcceptedEvent, "readInputs"> {
  /** Number of answers that the events belong to. */
  readonly choices: number;
  readonly withLogprobs: boolean;
  readonly profile?: ProfileDetail | undefined;
}

/** Log probabilities encoded before other work gets a turn: a few milliseconds of work. */
const LOGPROBS_IN_A_TURN = 5000;

/** Collects and encodes the whole completion of `choices` answers. Throws what the generation throws. */
export async function encodeChat(
  events: AsyncIterable<GenerateEvent>,
  origin: AnswerOrigin,
  options: ChatAnswerOptions,
): Promise<ChatCompletion> {
  const { choices, withLogprobs, profile } = options;
  const answers = await collectAll(events, choices);
  const finishes = answers.map(({ finish }) => finish);
  const usage = usageOf(finishes, choices);
  const turns = new TurnLimit(LOGPROBS_IN_A_TURN);
  const encoded: ChatCompletion["choices"] = [];
  for (const [index, answer] of answers.entries()) {
    const logprobs = withLogprobs ? await encodeInTurns(answer.logprobs, turns) : null;
    encoded.push(encodeChoice(answer, index, logprobs));
  }
  return {
    ...answerHead(origin, "chat.completion"),
    choices: encoded,
    usage: encodeUsage(usage),
    timings: encodeTimings(usage),
    ...encodeReadInputs(options),
    ...encodeProfile(profile, usage, finishes.findLast((finish) => finish.profile)?.profile),
  };
}

function encodeChoice(
  answer: CollectedAnswer,
  index: number,
  logprobs: ChatLogprobs | null,
): ChatCompletion["choices"][number] {
  const { text, reasoning, calls, finish } = answer;
  const tool_calls = calls.map(({ id, name, arguments: json }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: json },
  }));
  return {
    index,
    message: {
      role: "assistant",
      // In this API, an answer with calls has no text.
      content: calls.length > 0 ? null : text,
      refusal: null,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls }),
    },
    logprobs,
    finish_reason: finish.reason,
  };
}

/** Encodes the log probabilities of consecutive tokens. */
export const encodeLogprobs = (tokens: readonly TokenLogprob[]): ChatLogprobs => ({
  content: tokens.map(encodeLogprob),
  refusal: null,
});

/** Like `encodeLogprobs`, but for whole answers, which may have millions of log probabilities. */
async function encodeInTurns(tokens: readonly TokenLogprob[], turns: TurnLimit): Promise<ChatLogprobs> {
  const content: ReturnType<typeof encodeLogprob>[] = [];
  for (const token of tokens) {
    await turns.enter(1 + token.top.length);
    content.push(encodeLogprob(token));
  }
  return { content, refusal: null };
}

const encodeLogprob = ({ token, logprob, bytes, top }: TokenLogprob) => ({
  token,
  logprob,
  bytes: [...bytes],
  top_logprobs: top.map((other) => ({ token: other.token, logprob: other.logprob, bytes: [...other.bytes] })),
});
