// Fields that today's clients may send and that this server does not serve: refused by name, never ignored, because an
// answer that silently lacks a tool call or a schema is worse than an error.

import type { ChatCompletionRequest } from "../../contract/chat.ts";
import { SvcError } from "../../domain/errors.ts";

type Asked = (chat: ChatCompletionRequest) => boolean;

/** Typed fields, with the test for "would have an effect". */
const TYPED: Readonly<Record<string, Asked>> = {
  tools: ({ tools }) => (tools?.length ?? 0) > 0,
  tool_choice: ({ tool_choice }) => tool_choice != null && tool_choice !== "none" && tool_choice !== "auto",
  response_format: ({ response_format }) => response_format != null && response_format.type !== "text",
  reasoning_effort: ({ reasoning_effort }) => reasoning_effort != null && reasoning_effort !== "none",
  "chat_template_kwargs.enable_thinking": (chat) => chat.chat_template_kwargs?.["enable_thinking"] === true,
  n: ({ n }) => (n ?? 1) > 1,
};

/** Fields of the convention that have no schema here. */
const UNTYPED = ["logit_bias", "functions", "function_call", "audio", "modalities", "web_search_options", "moderation"];

/** Throws SvcError `unsupported_parameter` about the first field that asks for something not served. */
export function refuseUnsupported(chat: ChatCompletionRequest, body: unknown): void {
  const field =
    Object.keys(TYPED).find((name) => TYPED[name]?.(chat)) ??
    UNTYPED.find((name) => asksForSomething((body as Readonly<Record<string, unknown>>)[name]));
  if (field) throw new SvcError("unsupported_parameter", `'${field}' is not supported.`, { param: field });
}

/** Null, false, empty containers, "none" and text-only modalities ask for nothing. */
function asksForSomething(value: unknown): boolean {
  if (value == null || value === false || value === "none") return false;
  if (Array.isArray(value)) return value.some((item) => item !== "text");
  return typeof value !== "object" || Object.keys(value).length > 0;
}
