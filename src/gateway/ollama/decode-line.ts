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
    const [id, called] = [text(call["id"]), text(name)];
    return {
      ...(id !== undefined && { id }),
      ...(called !== undefined && { name: called }),
      arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}),
    };
  });
  const content = text(message["content"]) ?? text(answer["response"]);
  const reasoning = text(message["thinking"]) ?? text(answer["thinking"]);
  const logprobs = objects(answer["logprobs"]).map(decodeToken);
  return {
    ...(reasoning !== undefined && { reasoning }),
    ...(content !== undefined && { text: content }),
    ...(logprobs.length > 0 && { logprobs }),
    ...(calls.length > 0 && { calls }),
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
