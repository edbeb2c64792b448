// The events of one generation → a message of the messages convention.

import type { MessagesCounts, MessagesEnd, MessagesResponse } from "../../contract/messages.ts";
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

/** Calls come from the model itself, not from a program that it wrote. */
export const DIRECT = { type: "direct" } as const;

/** Collects the whole message. Throws what the generation throws. */
export async function encodeMessage(
  events: AsyncIterable<GenerateEvent>,
  answer: MessagesAnswer,
): Promise<MessagesResponse> {
  const blocks: Building[] = [];
  for await (const event of events) {
    if (event.type !== "finish") {
      add(blocks, event, answer.showThinking);
      continue;
    }
    const stop = stopOf(event, answer.stopSequences);
    return { ...beginning(answer, event.usage), content: blocks.map(finished), ...stop };
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

/** The message as it begins, with what is known of its usage. */
export const beginning = ({ id, model }: MessagesAnswer, usage: Usage): MessagesResponse => ({
  id,
  type: "message",
  role: "assistant",
  model,
  content: [],
  ...end(null),
  diagnostics: null,
  usage: { ...encodeUsage(usage), cache_creation: null, inference_geo: null, service_tier: null, speed: null },
});

/** Why the message ended. The convention has no word for cancelling; the turn is over then as well. */
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

/** Cached tokens are counted apart from the others, as the convention has it. */
export const encodeUsage = (usage: Usage): MessagesCounts => ({
  input_tokens: usage.promptTokens - usage.cachedTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage.cachedTokens,
  output_tokens: usage.completionTokens,
  output_tokens_details: { thinking_tokens: usage.reasoningTokens },
  server_tool_use: null,
});
