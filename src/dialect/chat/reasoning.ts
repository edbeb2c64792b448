// The chat dialect's fields about reasoning.

import type { ChatCompletionRequest } from "../../contract/chat.ts";
import { SvcError } from "../../domain/errors.ts";
import { resolveReasoning, type Reasoning, type ReasoningSettings } from "../fields/reasoning.ts";

/**
 * An explicit `enable_thinking` of the request wins over its effort. Throws SvcError `invalid_type` when it is no
 * boolean.
 */
export function decodeReasoning(chat: ChatCompletionRequest, settings: ReasoningSettings): Reasoning {
  const kwargs = chat.chat_template_kwargs ?? {};
  const enabled = kwargs["enable_thinking"];
  if (enabled != null && typeof enabled !== "boolean") {
    const param = "chat_template_kwargs.enable_thinking";
    throw new SvcError("invalid_type", `'${param}' must be a boolean.`, { param });
  }
  return resolveReasoning(
    {
      kwargs,
      ...(enabled != null && { enabled }),
      ...(chat.reasoning_effort != null && { effort: chat.reasoning_effort }),
      ...(chat.reasoning_budget_tokens != null && { budget: chat.reasoning_budget_tokens }),
    },
    settings,
  );
}
