// The events of one generation → a message of the Messages API.

import type { MessagesCounts, MessagesEnd, MessagesResponse } from "../../contract/messages.ts";
import type { AcceptedEvent, FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import type { Usage } from "../../domain/usage.ts";
import { objectOf } from "../fields/json-object.ts";
import { encodeReadInputs } from "../fields/read-inputs.ts";
import { CollectedAnswer, collect } from "../stream/collect.ts";

export interface MessagesAnswer extends Pick<AcceptedEvent, "readInputs"> {
  readonly id: string;
  readonly model: string;
  /** Thoughts are shown. */
  readonly showThinking: boolean;
  /** Stop sequences that the request itself named: only those are reported as the reason. */
  readonly stopSequences: readonly string[];
}

/** The API's own prefix for calls; the rest is what the engine named it. */
export const toolUseId = (id: string): string => id.replace(/^call_/, "toolu_");

/** Calls come from the model itself, not from a program that it wrote. */
export const DIRECT = { type: "direct" } as const;

/** Collects the whole message. Throws what the generation throws. */
export async function encodeMessage(
  events: AsyncIterable<GenerateEvent>,
  message: MessagesAnswer,
): Promise<MessagesResponse> {
  const { parts, finish } = await collect(events, new CollectedAnswer(message.showThinking));
  const stop = stopOf(finish, message.stopSequences);
  return { ...beginning(message, finish.usage), content: parts.map(encodeBlock), ...stop };
}

function encodeBlock(part: CollectedAnswer["parts"][number]): MessagesResponse["content"][number] {
  if (part.type === "tool_call") {
    const input = objectOf(part.arguments);
    return { type: "tool_use", id: toolUseId(part.id), name: part.name, input, caller: DIRECT };
  }
  const { type, text } = part;
  return type === "text" ? { type, text } : { type: "thinking", thinking: text, signature: "" };
}

/** The message as it begins, with what is known of its usage. */
export const beginning = ({ id, model, readInputs }: MessagesAnswer, usage: Usage): MessagesResponse => ({
  id,
  type: "message",
  role: "assistant",
  model,
  content: [],
  ...end(null),
  diagnostics: null,
  usage: { ...encodeUsage(usage), cache_creation: null, inference_geo: null, service_tier: null, speed: null },
  ...encodeReadInputs({ readInputs }),
});

/** Why the message ended. The API has no word for cancelling; the turn is over then as well. */
export function stopOf({ reason, stopSequence, contextFull }: FinishEvent, own: readonly string[]): MessagesEnd {
  if (reason === "tool_calls") return end("tool_use");
  if (reason === "length") return end(contextFull ? "model_context_window_exceeded" : "max_tokens");
  if (stopSequence !== undefined && own.includes(stopSequence)) return end("stop_sequence", stopSequence);
  return end("end_turn");
}

const end = (stop_reason: MessagesEnd["stop_reason"], stop_sequence: string | null = null): MessagesEnd => ({
  stop_reason,
  stop_sequence,
  stop_details: null,
  container: null,
});

/** Cached tokens are counted apart from the others, as the API has it. */
export const encodeUsage = (usage: Usage): MessagesCounts => ({
  input_tokens: usage.promptTokens - usage.cachedTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage.cachedTokens,
  output_tokens: usage.completionTokens,
  output_tokens_details: { thinking_tokens: usage.reasoningTokens },
  server_tool_use: null,
});
