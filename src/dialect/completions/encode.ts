// The events of a completion → its JSON answer.

import type { Completion, CompletionLogprobs } from "../../contract/completions.ts";
import { SvcError } from "../../domain/errors.ts";
import type { FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import { usageOf, type TokenLogprob } from "../../domain/usage.ts";
import { encodeUsage } from "../chat/usage.ts";
import type { AnswerOrigin } from "../fields/answer-origin.ts";
import type { CompletionCall } from "./decode.ts";

interface Candidate {
  text: string;
  readonly logprobs: TokenLogprob[];
  finish: FinishEvent | undefined;
}

/** Collects all answers; of those made for a prompt the likeliest are given. Throws what the generation throws. */
export async function encodeCompletion(
  events: AsyncIterable<GenerateEvent>,
  answer: AnswerOrigin,
  call: CompletionCall,
): Promise<Completion> {
  const candidates = call.requests.flatMap(() =>
    Array.from({ length: call.made }, (): Candidate => ({ text: "", logprobs: [], finish: undefined })),
  );
  for await (const event of events) {
    if (event.type === "accepted") continue;
    const candidate = candidates[event.choice ?? 0];
    if (!candidate) continue;
    if (event.type === "finish") candidate.finish = event;
    else if (event.type === "text") {
      candidate.text += event.text;
      candidate.logprobs.push(...(event.logprobs ?? []));
    }
  }
  if (candidates.some(({ finish }) => !finish)) {
    throw new SvcError("internal_error", "The generation ended without a finish.");
  }
  const choices = call.echoes.flatMap((echo, prompt) =>
    likeliest(candidates.slice(prompt * call.made, (prompt + 1) * call.made), call.given).map((candidate) => ({
      text: call.echoAlone ? echo : echo + candidate.text,
      logprobs: call.withLogprobs ? encodeLogprobs(candidate.logprobs, 0) : null,
      finish_reason: call.echoAlone ? ("length" as const) : finishReason(candidate.finish),
    })),
  );
  return {
    id: answer.id,
    object: "text_completion",
    created: answer.created,
    model: answer.model,
    system_fingerprint: answer.systemFingerprint,
    choices: choices.map((choice, index) => ({ ...choice, index })),
    usage: encodeUsage(
      usageOf(
        candidates.map(({ finish }) => finish),
        call.made,
      ),
    ),
  };
}

function likeliest(candidates: readonly Candidate[], count: number): readonly Candidate[] {
  if (candidates.length === count) return candidates;
  const mean = ({ logprobs }: Candidate) =>
    logprobs.reduce((sum, { logprob }) => sum + logprob, 0) / Math.max(logprobs.length, 1);
  return candidates.toSorted((a, b) => mean(b) - mean(a)).slice(0, count);
}

/** This route has no tools, so nothing else can end an answer. */
export const finishReason = (finish: FinishEvent | undefined): "stop" | "length" | "cancelled" =>
  finish?.reason === "length" || finish?.reason === "cancelled" ? finish.reason : "stop";

/** The older layout: parallel lists. `offset`: characters of the answer before the first of these tokens. */
export function encodeLogprobs(tokens: readonly TokenLogprob[], offset: number): CompletionLogprobs {
  let at = offset;
  return {
    tokens: tokens.map(({ token }) => token),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ token, logprob, top }) =>
      Object.fromEntries([[token, logprob], ...top.map((other) => [other.token, other.logprob])]),
    ),
    text_offset: tokens.map(({ token }) => {
      const start = at;
      at += token.length;
      return start;
    }),
  };
}
