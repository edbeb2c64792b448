// Converts a line of Ollama's /api/chat or /api/generate to its pieces.

import { count, fields, objects, text } from "../fields.ts";
import { decodeToken } from "../openai/decode-chunk.ts";
import type { Piece } from "../output.ts";

/** Returns the piece of a line. Never throws: unknown parts are ignored. */
export function decodeLine(line: unknown): Piece {
  const answer = fields(line);
  const message = fields(answer["message"]);
  const calls = objects(message["tool_calls"]).map((call) => {
    const { name, arguments: given } = fields(call["function"]);
    return {
      id: text(call["id"]),
      name: text(name),
      arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}),
    };
  });
  const logprobs = objects(answer["logprobs"]).map(decodeToken);
  return {
    reasoning: text(message["thinking"]) ?? text(answer["thinking"]),
    text: text(message["content"]) ?? text(answer["response"]),
    logprobs: logprobs.length > 0 ? logprobs : undefined,
    calls: calls.length > 0 ? calls : undefined,
    ...(answer["done"] === true && {
      reason: text(answer["done_reason"]) ?? "stop",
      usage: {
        promptTokens: count(answer["prompt_eval_count"]),
        completionTokens: count(answer["eval_count"]),
        cachedTokens: 0,
        reasoningTokens: 0,
        peakMemoryBytes: 0,
      },
    }),
  };
}
