// Encodes the events of one generation as a message of the Messages API.

import type { MessagesCounts, MessagesEnd, MessagesResponse } from "../../contract/messages.ts";
import type { AcceptedEvent, FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import type { Usage } from "../../domain/usage.ts";
import { objectOf } from "../fields/json-object.ts";
import { encodeReadInputs } from "../fields/read-inputs.ts";
import { asIs, collect, CollectedAnswer } from "../stream/collect.ts";

export interface MessagesAnswer extends Pick<AcceptedEvent, "readInputs"> {
  readonly id: string;
  readonly model: string;
  /** Whether the message includes the reasoning. */
  readonly showThinking: boolean;
  /** Whether the message only reports that the prompt was computed. */
  readonly promptAlone: boolean;
  /** Stop sequences of the request itself: only these are reported as the stop reason. */
  readonly stopSequences: readonly string[];
}

/** Replaces the engine's prefix of call ids with that of the Messages API. */
export const toolUseId = (id: string): string => id.replace(/^call_/, "toolu_");

/** The model itself makes all calls; no program that it wrote does. */
export const DIRECT = { type: "direct" } as const;

/** Collects the whole message. Throws what the generation throws. */
export async function encodeMessage(
  events: AsyncIterable<GenerateEvent>,
  message: MessagesAnswer,
): Promise<MessagesResponse> {
  const { parts, finish } = await collect(events, new CollectedAnswer(asIs, message.showThinking));
  const ended = finishOf(finish, message);
  const content = message.promptAlone ? [] : parts.map(encodeBlock);
  return { ...beginning(message, ended.usage), content, ...stopOf(ended, message.stopSequences) };
}

/** Returns the end of a message; that of one for the prompt alone does not depend on the token that was sampled. */
export function finishOf(finish: FinishEvent, { promptAlone }: MessagesAnswer): FinishEvent {
  if (!promptAlone) return finish;
  const usage = { ...finish.usage, completionTokens: 0, reasoningTokens: 0 };
  return { type: "finish", reason: finish.reason === "cancelled" ? "cancelled" : "length", usage };
}

function encodeBlock(part: CollectedAnswer["parts"][number]): MessagesResponse["content"][number] {
  if (part.type === "tool_call") {
    const input = objectOf(part.arguments);
    return { type: "tool_use", id: toolUseId(part.id), name: part.name, input, caller: DIRECT };
  }
  const { type, text } = part;
  return type === "text" ? { type, text } : { type: "thinking", thinking: text, signature: "" };
}

/** Returns the message as it begins, with the usage known so far. */
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

/** Returns why the message ended. The API has no reason for cancelling, so a cancelled turn ends as an ordinary one. */
export function stopOf({ reason, stopSequence, contextFull }: FinishEvent, own: readonly string[]): MessagesEnd {
  if (reason === "tool_calls") return end("tool_use");
  if (reason === "length") return end(contextFull ? "model_context_window_exceeded" : "max_tokens");
  if (reason === "content_filter") return end("refusal");
  if (stopSequence !== undefined && own.includes(stopSequence)) return end("stop_sequence", stopSequence);
  return end("end_turn");
}

const end = (stop_reason: MessagesEnd["stop_reason"], stop_sequence: string | null = null): MessagesEnd => ({
  stop_reason,
  stop_sequence,
  stop_details: null,
  container: null,
});

/** Encodes the usage; this API counts cached tokens separately from other input. */
export const encodeUsage = (usage: Usage): MessagesCounts => ({
  input_tokens: usage.promptTokens - usage.cachedTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage.cachedTokens,
  output_tokens: usage.completionTokens,
  output_tokens_details: { thinking_tokens: usage.reasoningTokens },
  server_tool_use: null,
});
