// The resource of the Responses API: every setting of the request or its default; every key is always present.

import type { OutputItem, ResponseResource, ResponsesRequest, ResponsesUsage } from "../../contract/responses.ts";
import type { FinishEvent, Sampling } from "../../domain/generate.ts";
import type { FinishReason, Usage } from "../../domain/usage.ts";

/** Identifies one answer. */
interface ResponseIdentity {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly model: string;
}

/** Settings that apply when a request has none; null: unknown. */
type Defaults = Omit<Sampling, "temperature" | "topP"> & {
  readonly temperature?: number | null;
  readonly topP?: number | null;
};

/** Returns the resource before anything is generated. `defaults`: settings to echo when the request has none. */
export function newResource(
  { id, createdAt, model }: ResponseIdentity,
  body: ResponsesRequest,
  defaults: Defaults,
): ResponseResource {
  const unchecked = body as Readonly<Record<string, unknown>>;
  return {
    id,
    object: "response",
    access_programs: null,
    created_at: createdAt,
    completed_at: null,
    status: "in_progress",
    background: body.background ?? false,
    ...(body.conversation != null && { conversation: { id: conversationId(body.conversation) } }),
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: typeof unchecked["max_tool_calls"] === "number" ? unchecked["max_tool_calls"] : null,
    metadata: body.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: "default",
    store: body.store ?? true,
    temperature: body.temperature ?? orUsual(defaults.temperature),
    text: { format: formatOf(body), verbosity: body.text?.verbosity ?? "medium" },
    tool_choice: body.tool_choice ?? "auto",
    tools: (body.tools ?? []).map(echoTool),
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? orUsual(defaults.topP),
    presence_penalty: body.presence_penalty ?? defaults.presencePenalty ?? 0,
    // Accepted without effect.
    frequency_penalty: 0,
    truncation: body.truncation ?? "disabled",
    usage: null,
    user: body.user ?? null,
  };
}

const orUsual = (value: number | null | undefined): number | null => (value === undefined ? 1 : value);

/** Returns the id of a conversation, which a request gives directly or in an object. */
export const conversationId = (named: NonNullable<ResponsesRequest["conversation"]>): string =>
  typeof named === "string" ? named : named.id;

function formatOf({ text }: ResponsesRequest): ResponseResource["text"]["format"] {
  const format = text?.format;
  if (format == null) return { type: "text" };
  return format.type === "json_schema"
    ? { name: "response", ...format, strict: format.strict ?? true }
    : { type: format.type };
}

type WireTool = NonNullable<ResponsesRequest["tools"]>[number];

/** Returns functions with all their keys; tools of other types unchanged. */
const echoTool = (tool: WireTool): unknown =>
  tool.type === "function" ? { description: null, parameters: null, ...tool, strict: tool.strict ?? false } : tool;

const INCOMPLETE: Partial<Record<FinishReason, "max_output_tokens" | "content_filter">> = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

/** Returns the resource after its generation ended. `now`: Unix seconds. */
export function endedResource(
  resource: ResponseResource,
  output: readonly OutputItem[],
  finish: FinishEvent,
  now: number,
): ResponseResource {
  const reason = INCOMPLETE[finish.reason];
  const incomplete = reason !== undefined;
  const cancelled = finish.reason === "cancelled";
  return {
    ...resource,
    status: incomplete ? "incomplete" : cancelled ? "cancelled" : "completed",
    completed_at: incomplete || cancelled ? null : now,
    incomplete_details: incomplete ? { reason } : null,
    output: [...output],
    usage: encodeUsage(finish.usage),
  };
}

/** Returns the resource of a failed generation. */
export const failedResource = (
  resource: ResponseResource,
  output: readonly OutputItem[],
  message: string,
): ResponseResource => ({
  ...resource,
  status: "failed",
  error: { code: "server_error", message },
  output: [...output],
});

/** Returns the resource of a generation whose client disconnected. */
export const cancelledResource = (resource: ResponseResource, output: readonly OutputItem[]): ResponseResource => ({
  ...resource,
  status: "cancelled",
  output: [...output],
});

export const encodeUsage = (usage: Usage): ResponsesUsage => ({
  input_tokens: usage.promptTokens,
  input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
  output_tokens: usage.completionTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: usage.promptTokens + usage.completionTokens,
});
