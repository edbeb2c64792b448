// Encodes the events of a completion as llama.cpp's own form of answers.

import type { LlamaCompletion } from "../../contract/llama-completion.ts";
import type { FinishEvent, GenerateEvent, Sampling } from "../../domain/generate.ts";
import type { TokenLogprob } from "../../domain/usage.ts";
import { encodeTimings } from "../fields/usage.ts";
import { collectAll } from "../stream/collect.ts";
import type { LlamaCall } from "./decode.ts";
import { encodeSettings } from "./settings.ts";

/** What an answer reports about its request. */
export interface LlamaContext extends Omit<LlamaCall, "prompts"> {
  readonly model: string;
  /** The text of each prompt. */
  readonly prompts: readonly string[];
  /** Sampling settings that apply when the request has none. */
  readonly defaults: Sampling;
}

/** Returns one object, or a list when there are several answers. Throws what the generation throws. */
export async function encodeLlama(events: AsyncIterable<GenerateEvent>, context: LlamaContext): Promise<unknown> {
  const answers = await collectAll(events, context.prompts.length * context.made, encodeProbability);
  const encoded = answers.map(({ text, logprobs, finish }, index) => {
    const content = context.promptAlone ? "" : text;
    const tokens = context.returnTokens && !context.promptAlone ? [...(finish.tokens?.answer ?? [])] : [];
    const probabilities = logprobs.length > 0 && { completion_probabilities: logprobs };
    return chosen(
      { ...ending(finish, { index, hasNewLine: content.includes("\n") }, context), content, tokens, ...probabilities },
      context,
    );
  });
  return encoded.length === 1 ? encoded[0] : encoded;
}

/** Returns the last object of an answer, without its text. */
export function ending(
  finish: FinishEvent,
  { index, hasNewLine }: { readonly index: number; readonly hasNewLine: boolean },
  context: LlamaContext,
): LlamaCompletion {
  const { made, prompts, request, model, slot, stream, promptAlone, defaults } = context;
  const { usage } = finish;
  const predicted = promptAlone ? 0 : usage.completionTokens;
  return {
    index,
    content: "",
    tokens: [],
    id_slot: slot,
    stop: true,
    model,
    tokens_predicted: predicted,
    tokens_evaluated: usage.promptTokens,
    generation_settings: encodeSettings(promptAlone ? { ...request, maxTokens: 0 } : request, defaults, stream),
    prompt: prompts[Math.floor(index / made)] ?? "",
    has_new_line: hasNewLine,
    truncated: finish.contextFull === true || finish.contextShifted === true,
    stop_type: stopType(finish),
    stopping_word: finish.stopSequence ?? "",
    tokens_cached: usage.promptTokens + predicted,
    timings: encodeTimings({ ...usage, completionTokens: predicted }),
  };
}

function stopType({ reason, stopSequence }: FinishEvent): "none" | "eos" | "limit" | "word" {
  if (stopSequence !== undefined) return "word";
  if (reason === "length" || reason === "content_filter") return "limit";
  return reason === "cancelled" ? "none" : "eos";
}

export const encodeProbability = ({ top, ...token }: TokenLogprob) => ({
  ...probability(token),
  top_logprobs: top.map(probability),
});

const probability = ({ id = -1, token, bytes, logprob }: Omit<TokenLogprob, "top">) => ({
  id,
  token,
  bytes: [...bytes],
  logprob,
});

/** Returns the fields of an answer that the request names; nested fields under their full paths. */
export function chosen(answer: LlamaCompletion, { fields }: Pick<LlamaContext, "fields">): object {
  if (fields.length === 0) return answer;
  const found = fields.flatMap((path): [string, unknown][] => {
    const value = path.split("/").reduce<unknown>((inner, name) => memberOf(inner, name), answer);
    return value === undefined ? [] : [[path, value]];
  });
  return Object.fromEntries(found);
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
