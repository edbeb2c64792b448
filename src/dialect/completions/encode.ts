// Encodes the events of a completion as its JSON answer.

import type { Completion, CompletionLogprobs } from "../../contract/completions.ts";
import type { FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import { TurnLimit } from "../../domain/turn-limit.ts";
import { usageOf, type FinishReason, type PromptLogprob, type Usage } from "../../domain/usage.ts";
import { answerHead, type AnswerOrigin } from "../fields/answer-head.ts";
import { encodeTimings, encodeUsage } from "../fields/usage.ts";
import { asIs, collectAll, type CollectedAnswer } from "../stream/collect.ts";
import type { CompletionCall } from "./decode.ts";

/** Tokens whose log probabilities are encoded before other work gets a turn. */
const TOKENS_IN_A_TURN = 1000;

/** Collects all answers and returns the likeliest for each prompt. Throws what the generation throws. */
export async function encodeCompletion(
  events: AsyncIterable<GenerateEvent>,
  origin: AnswerOrigin,
  call: CompletionCall,
): Promise<Completion> {
  const answers = await collectAll(events, call.requests.length * call.made, asIs);
  const usage = completionUsage(
    answers.map(({ finish }) => finish),
    call,
  );
  const given = call.echoes.flatMap((echo, prompt) =>
    likeliest(answers.slice(prompt * call.made, (prompt + 1) * call.made), call.given).map(
      (answer) => [echo, answer] as const,
    ),
  );
  const turns = new TurnLimit(TOKENS_IN_A_TURN);
  const choices: Completion["choices"] = [];
  for (const [index, [echo, answer]] of given.entries()) {
    const tokens = tokensOf(answer, call.echoAlone);
    if (call.withLogprobs) await turns.enter(tokens.length);
    choices.push({
      text: (echo || echoed(answer)) + (call.echoAlone ? "" : answer.text),
      // Not all models give them.
      logprobs: call.withLogprobs && (tokens.length > 0 || answer.text === "") ? encodeLogprobs(tokens, 0) : null,
      finish_reason: call.echoAlone ? "length" : finishReason(answer.finish),
      index,
    });
  }
  return {
    ...answerHead(origin, "text_completion"),
    choices,
    usage: encodeUsage(usage),
    timings: encodeTimings(usage),
  };
}

/** Returns the usage of all answers. When only the echo is wanted, the token computed to obtain it does not count. */
export function completionUsage(finishes: readonly (FinishEvent | undefined)[], call: CompletionCall): Usage {
  const usage = usageOf(finishes, call.made);
  return call.echoAlone ? { ...usage, completionTokens: 0, completionMs: 0 } : usage;
}

/** Returns the tokens of an answer, after those of its prompt if they were requested. */
const tokensOf = ({ finish, logprobs }: CollectedAnswer, promptAlone: boolean): readonly PromptLogprob[] => [
  ...(finish.promptLogprobs ?? []),
  ...(promptAlone ? [] : logprobs),
];

/** Returns the text of a prompt that came as token ids. */
const echoed = ({ finish }: CollectedAnswer): string =>
  new TextDecoder().decode(Uint8Array.from((finish.promptLogprobs ?? []).flatMap(({ bytes }) => bytes)));

function likeliest(answers: readonly CollectedAnswer[], count: number): readonly CollectedAnswer[] {
  if (answers.length === count) return answers;
  const mean = ({ logprobs }: CollectedAnswer) =>
    logprobs.reduce((sum, { logprob }) => sum + logprob, 0) / Math.max(logprobs.length, 1);
  return answers.toSorted((a, b) => mean(b) - mean(a)).slice(0, count);
}

/** Returns the finish reason; this route has no tools, so an answer can end for no other reason. */
export const finishReason = ({ reason }: FinishEvent): Exclude<FinishReason, "tool_calls"> =>
  reason === "tool_calls" ? "stop" : reason;

/** Encodes the older layout of parallel lists. `offset`: characters of the answer before the first token. */
export function encodeLogprobs(tokens: readonly PromptLogprob[], offset: number): CompletionLogprobs {
  let at = offset;
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ token, logprob, top }) =>
      logprob === null
        ? null
        : Object.fromEntries([[token, logprob], ...top.map((other) => [other.token, other.logprob])]),
    ),
    text_offset: tokens.map(({ token }) => {
      const start = at;
      at += token.length;
      return start;
    }),
  };
}
