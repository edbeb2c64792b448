// A chat completion request body → what the generation service is asked. Pure, apart from drawing a random seed.

import { ChatCompletionRequest } from "../../contract/chat.ts";
import { checker } from "../../contract/schema.ts";
import { SvcError } from "../../domain/errors.ts";
import type { GenerateRequest, Sampling, TemplateKwargs } from "../../domain/generate.ts";
import { decodeMessages } from "./messages.ts";
import { refuseUnsupported } from "./unsupported.ts";

/** Launch options that shape a request. */
export interface ChatSettings {
  readonly stop: readonly string[];
  readonly maxLogprobs: number;
  readonly maxTokens?: number;
  readonly templateKwargs: TemplateKwargs;
}

export interface ChatCall {
  readonly request: Omit<GenerateRequest, "id">;
  readonly stream: boolean;
  /** Whether a stream ends with a usage chunk. */
  readonly includeUsage: boolean;
}

const check = checker(ChatCompletionRequest);
const MOST = 2 ** 31 - 1;
/** A nucleus of nothing: only the most probable token is left. */
const LEAST_TOP_P = 1e-6;

/** Throws SvcError with a code of the 400 family, naming the field. */
export function decodeChat(body: unknown, settings: ChatSettings): ChatCall {
  const chat = check(body);
  refuseUnsupported(chat, body);
  const maxTokens = chat.max_tokens ?? chat.max_completion_tokens ?? settings.maxTokens;
  const topLogprobs = decodeLogprobs(chat, settings.maxLogprobs);
  return {
    request: {
      messages: decodeMessages(chat.messages),
      templateKwargs: { ...settings.templateKwargs, ...chat.chat_template_kwargs },
      sampling: decodeSampling(chat),
      stop: decodeStop(chat.stop ?? [], settings.stop),
      ...(maxTokens !== undefined && { maxTokens: Math.min(maxTokens, MOST) }),
      ...(topLogprobs !== undefined && { topLogprobs }),
    },
    stream: chat.stream ?? false,
    includeUsage: chat.stream_options?.include_usage ?? true,
  };
}

function decodeSampling(chat: ChatCompletionRequest): Sampling {
  const repetitionPenalty = chat.repetition_penalty ?? chat.repeat_penalty;
  return {
    ...(chat.temperature != null && { temperature: chat.temperature }),
    ...(chat.top_p != null && { topP: Math.max(chat.top_p, LEAST_TOP_P) }),
    ...(chat.top_k != null && { topK: Math.min(Math.max(chat.top_k, 0), MOST) }),
    ...(chat.min_p != null && { minP: chat.min_p }),
    ...(repetitionPenalty != null && { repetitionPenalty }),
    ...(chat.presence_penalty != null && { presencePenalty: chat.presence_penalty }),
    ...(chat.seed != null && { seed: decodeSeed(chat.seed) }),
  };
}

/** -1 asks for randomness even when the server has a default seed. */
function decodeSeed(seed: number): number {
  if (seed === -1) return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  return Number(BigInt.asUintN(32, BigInt(seed)));
}

/** Launch values first, then the request's, each once. */
function decodeStop(requested: string | readonly string[], launch: readonly string[]): readonly string[] {
  return [...new Set([...launch, ...(typeof requested === "string" ? [requested] : requested)])];
}

/** Alternatives per token, or undefined when no log probabilities are asked. */
function decodeLogprobs({ logprobs, top_logprobs }: ChatCompletionRequest, most: number): number | undefined {
  const alternatives = top_logprobs ?? 0;
  const param = "top_logprobs";
  if (alternatives > most) {
    const message = `'${param}' must be at most ${most}, the limit set by --max-logprobs; got ${alternatives}.`;
    throw new SvcError("invalid_value", message, { param });
  }
  if (logprobs === true) return alternatives;
  if (alternatives > 0) throw new SvcError("invalid_value", `'${param}' needs 'logprobs' to be true.`, { param });
  return undefined;
}
