// Converts a chunk of a chat or text completion, or a whole completion, to its pieces.

import { GIB } from "../../domain/gib.ts";
import type { TokenLogprob } from "../../domain/usage.ts";
import { count, fields, number, objects, text, type Fields } from "../fields.ts";
import type { CallPiece, Piece, UpstreamUsage } from "../output.ts";

/** Returns the piece of a chunk. Never throws: unknown parts are ignored. */
export function decodeChunk(chunk: unknown): Piece {
  const { choices, usage, timings, prompt_progress: progress } = fields(chunk);
  const [given] = objects(choices);
  const choice = given ?? {};
  // A server that does not stream answers with a message instead.
  const delta = fields(choice["delta"] ?? choice["message"]);
  const calls = callsOf(delta).map(decodeCall);
  const logprobs = decodeLogprobs(choice["logprobs"]);
  return {
    reasoning: text(delta["reasoning_content"]) ?? text(delta["reasoning"]) ?? thinkingOf(delta["content"]),
    text: contentOf(delta["content"]) ?? text(delta["refusal"]) ?? text(choice["text"]),
    logprobs: logprobs.length > 0 ? logprobs : undefined,
    calls: calls.length > 0 ? calls : undefined,
    reason: text(choice["finish_reason"]),
    // The names used by vLLM and SGLang.
    stopSequence: text(choice["stop_reason"]) ?? text(choice["matched_stop"]),
    usage: usage == null ? undefined : decodeUsage(fields(usage)),
    tokens: given && (number(fields(timings)["predicted_n"]) ?? number(fields(usage)["completion_tokens"])),
    progress: progress == null ? undefined : decodeProgress(fields(progress)),
  };
}

/** Returns a text, which may also come as a list of parts. */
const contentOf = (content: unknown): string | undefined =>
  text(content) ??
  text(
    objects(content)
      .map(({ type, text: part }) => (type === "text" ? text(part) : undefined) ?? "")
      .join(""),
  );

/** Returns the reasoning that Mistral's models send as parts of the content, each with parts of its own. */
const thinkingOf = (content: unknown): string | undefined =>
  text(
    objects(content)
      .map(({ thinking }) => contentOf(thinking) ?? "")
      .join(""),
  );

/** Returns the calls, or the only one in the older form. */
function callsOf(delta: Fields): readonly Fields[] {
  const called = delta["function_call"];
  return called == null ? objects(delta["tool_calls"]) : [{ index: 0, function: called }];
}

function decodeCall(call: Fields): CallPiece {
  const { name, arguments: given } = fields(call["function"]);
  return {
    index: number(call["index"]),
    id: text(call["id"]),
    name: text(name),
    arguments: typeof given === "string" ? given : given == null ? "" : JSON.stringify(given),
  };
}

const decodeProgress = ({ total, cache, processed, time_ms: ms }: Fields) => ({
  total: count(total),
  cached: count(cache),
  processed: count(processed),
  ms: count(ms),
});

function decodeUsage(usage: Fields): UpstreamUsage {
  const promptTokens = count(usage["prompt_tokens"]);
  return {
    promptTokens,
    completionTokens: count(usage["completion_tokens"]),
    // Some clients get the difference, which must not be negative.
    cachedTokens: Math.min(promptTokens, count(fields(usage["prompt_tokens_details"])["cached_tokens"])),
    // SGLang puts this count beside the others.
    reasoningTokens: count(fields(usage["completion_tokens_details"])["reasoning_tokens"] ?? usage["reasoning_tokens"]),
    peakMemoryBytes: count((number(usage["peak_memory_gib"]) ?? 0) * GIB),
  };
}

/** Decodes log probabilities in the form of chat completions, or of text completions: parallel lists. */
function decodeLogprobs(value: unknown): TokenLogprob[] {
  const logprobs = fields(value);
  const { tokens, token_logprobs: chosen, top_logprobs: tops } = logprobs;
  if (!Array.isArray(tokens)) return objects(logprobs["content"]).map(decodeToken);
  const at = (list: unknown, index: number): unknown => (Array.isArray(list) ? list[index] : undefined);
  return tokens.map((token, index) => ({
    ...probability({ token, logprob: at(chosen, index) }),
    top: Object.entries(fields(at(tops, index))).map(([other, logprob]) => probability({ token: other, logprob })),
  }));
}

/** Decodes a token in the form of chat completions, with its alternatives. */
export const decodeToken = (token: Fields): TokenLogprob => ({
  ...probability(token),
  top: objects(token["top_logprobs"]).map(probability),
});

const encoder = new TextEncoder();

function probability({ token, logprob, bytes }: Fields) {
  const name = typeof token === "string" ? token : "";
  const given = Array.isArray(bytes) ? bytes.filter((byte) => typeof byte === "number") : undefined;
  return { token: name, logprob: number(logprob) ?? 0, bytes: given ?? [...encoder.encode(name)] };
}
