// The events of a completion → its JSON answer.

import type { Completion, CompletionLogprobs } from "../../contract/completions.ts";
import type { FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import { usageOf, type PromptLogprob, type Usage } from "../../domain/usage.ts";
import { TurnLimit } from "../../domain/turn-limit.ts";
import { encodeTimings, encodeUsage } from "../chat/usage.ts";
import { answerHead, type AnswerOrigin } from "../fields/answer-origin.ts";
import { collectAll, type CollectedAnswer } from "../stream/collect.ts";
import type { CompletionCall } from "./decode.ts";

/** Whose log probabilities are encoded. */
const TOKENS_IN_A_TURN = 1000;

/** Collects all answers; of those made for a prompt the likeliest are given. Throws what the generation throws. */
export async function encodeCompletion(
  events: AsyncIterable<GenerateEvent>,
  origin: AnswerOrigin,
  call: CompletionCall,
): Promise<Completion> {
  const answers = await collectAll(events, call.requests.length * call.made);
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
      logprobs: call.withLogprobs ? encodeLogprobs(tokens, 0) : null,
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

/** The usage of all answers; where prompts alone are wanted, what was computed for the sake of it is none. */
export function completionUsage(finishes: readonly (FinishEvent | undefined)[], call: CompletionCall): Usage {
  const usage = usageOf(finishes, call.made);
  return call.echoAlone ? { ...usage, completionTokens: 0, completionMs: 0 } : usage;
}

/** The tokens of an answer, behind those of its prompt where they are wanted. */
const tokensOf = ({ finish, logprobs }: CollectedAnswer, promptAlone: boolean): readonly PromptLogprob[] => [
  ...(finish.promptLogprobs ?? []),
  ...(promptAlone ? [] : logprobs),
];

/** The text of a prompt of token ids. */
const echoed = ({ finish }: CollectedAnswer): string =>
  new TextDecoder().decode(Uint8Array.from((finish.promptLogprobs ?? []).flatMap(({ bytes }) => bytes)));

function likeliest(answers: readonly CollectedAnswer[], count: number): readonly CollectedAnswer[] {
  if (answers.length === count) return answers;
  const mean = ({ logprobs }: CollectedAnswer) =>
    logprobs.reduce((sum, { logprob }) => sum + logprob, 0) / Math.max(logprobs.length, 1);
  return answers.toSorted((a, b) => mean(b) - mean(a)).slice(0, count);
}

/** This route has no tools, so nothing else can end an answer. */
export const finishReason = ({ reason }: FinishEvent): "stop" | "length" | "cancelled" =>
  reason === "length" || reason === "cancelled" ? reason : "stop";

/** The older layout: parallel lists. `offset`: characters of the answer before the first of these tokens. */
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
