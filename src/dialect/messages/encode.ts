// The events of one generation → a message of the messages convention.

import type { MessagesResponse, MessagesUsage } from "../../contract/messages.ts";
import { SvcError } from "../../domain/errors.ts";
import type { FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import type { Usage } from "../../domain/usage.ts";
import { objectOf } from "../fields/json-object.ts";

export interface MessagesAnswer {
  readonly id: string;
  readonly model: string;
  /** Thoughts are shown. */
  readonly showThinking: boolean;
  /** Stop sequences that the request itself named: only those are told as the reason. */
  readonly stopSequences: readonly string[];
}

type ToolUse = { type: "tool_use"; id: string; name: string; json: string };
type Building = { type: "text"; text: string } | { type: "thinking"; thinking: string } | ToolUse;

/** The convention's own prefix for calls; the rest is what the engine named it. */
export const toolUseId = (id: string): string => id.replace(/^call_/, "toolu_");

/** Collects the whole message. Throws what the generation throws. */
export async function encodeMessage(
  events: AsyncIterable<GenerateEvent>,
  answer: MessagesAnswer,
): Promise<MessagesResponse> {
  const blocks: Building[] = [];
  for await (const event of events) {
    if (event.type === "finish") return message(answer, blocks.map(finished), event);
    add(blocks, event, answer.showThinking);
  }
  throw new SvcError("internal_error", "The generation ended without a finish.");
}

function add(blocks: Building[], event: GenerateEvent, showThinking: boolean): void {
  const last = blocks.at(-1);
  if (event.type === "text") {
    if (last?.type === "text") last.text += event.text;
    else if (event.text !== "") blocks.push({ type: "text", text: event.text });
  } else if (event.type === "reasoning" && showThinking) {
    if (last?.type === "thinking") last.thinking += event.text;
    else blocks.push({ type: "thinking", thinking: event.text });
  } else if (event.type === "tool_call") {
    blocks.push({ type: "tool_use", id: toolUseId(event.id), name: event.name, json: "" });
  } else if (event.type === "tool_arguments") {
    if (last?.type === "tool_use") last.json += event.text;
  }
}

function finished(block: Building): MessagesResponse["content"][number] {
  if (block.type === "text") return { ...block, citations: null };
  if (block.type === "thinking") return { ...block, signature: "" };
  return { type: "tool_use", id: block.id, name: block.name, input: objectOf(block.json), caller: DIRECT };
}

function message(answer: MessagesAnswer, content: MessagesResponse["content"], finish: FinishEvent): MessagesResponse {
  return {
    id: answer.id,
    type: "message",
    role: "assistant",
    model: answer.model,
    content,
    ...stopOf(finish, answer.stopSequences),
    diagnostics: null,
    usage: encodeMessageUsage(finish.usage),
  };
}

/** Who made a call: the model itself, no program that runs elsewhere. */
export const DIRECT = { type: "direct" } as const;

type Stop = Pick<MessagesResponse, "stop_reason" | "stop_sequence" | "stop_details" | "container">;

const stopped = (stop_reason: Stop["stop_reason"], stop_sequence: string | null = null): Stop => ({
  stop_reason,
  stop_sequence,
  stop_details: null,
  container: null,
});

/** How a message that has not ended stands. */
export const NOT_STOPPED = stopped(null);

/** Why the message ended. The convention has no word for cancelling; the turn is over then as well. */
export function stopOf({ reason, stopSequence, contextFull }: FinishEvent, own: readonly string[]): Stop {
  if (reason === "tool_calls") return stopped("tool_use");
  if (reason === "length") return stopped(contextFull ? "model_context_window_exceeded" : "max_tokens");
  if (stopSequence !== undefined && own.includes(stopSequence)) return stopped("stop_sequence", stopSequence);
  return stopped("end_turn");
}

/** Cached tokens are counted apart from the others, as the convention has it. */
export const encodeUsage = (usage: Usage): MessagesUsage => ({
  input_tokens: usage.promptTokens - usage.cachedTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage.cachedTokens,
  output_tokens: usage.completionTokens,
  output_tokens_details: { thinking_tokens: usage.reasoningTokens },
  server_tool_use: null,
});

/** The usage of a whole message: with the keys that have no meaning on one machine. */
export const encodeMessageUsage = (usage: Usage): MessagesResponse["usage"] => ({
  ...encodeUsage(usage),
  cache_creation: null,
  inference_geo: null,
  service_tier: null,
  speed: null,
});
