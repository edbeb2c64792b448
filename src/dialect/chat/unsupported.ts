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

/** Fields of the convention that have no schema here, with the test for a value that is not null. */
const UNTYPED: Readonly<Record<string, (value: unknown) => boolean>> = {
  logit_bias: (value) => !isEmpty(value),
  functions: (value) => !isEmpty(value),
  function_call: (value) => value !== "none",
  audio: () => true,
  modalities: (value) => !Array.isArray(value) || value.some((modality) => modality !== "text"),
  web_search_options: () => true,
  moderation: () => true,
};

/** Throws SvcError `unsupported_parameter` about the first field that asks for something not served. */
export function refuseUnsupported(chat: ChatCompletionRequest, body: unknown): void {
  const untyped = body as Readonly<Record<string, unknown>>;
  const field =
    Object.keys(TYPED).find((name) => TYPED[name]?.(chat)) ??
    Object.keys(UNTYPED).find((name) => untyped[name] != null && UNTYPED[name]?.(untyped[name]));
  if (field) throw new SvcError("unsupported_parameter", `'${field}' is not supported.`, { param: field });
}

const isEmpty = (value: unknown): boolean => typeof value === "object" && Object.keys(value ?? {}).length === 0;
