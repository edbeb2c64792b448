// The chat dialect's fields about reasoning.

import type { ChatCompletionRequest } from "../../contract/chat.ts";
import { resolveReasoning, type Reasoning, type ReasoningSettings } from "../../domain/reasoning.ts";
import { decodeKwargs } from "../fields/reasoning.ts";

/** `constrained`: the answer has to have a form. Throws SvcError about an `enable_thinking` that is no boolean. */
export function decodeReasoning(
  chat: ChatCompletionRequest,
  settings: ReasoningSettings,
  constrained: boolean,
): Reasoning {
  const effort = chat.reasoning_effort ?? chat.reasoning?.effort;
  const enabled = effort == null ? chat.reasoning?.enabled : undefined;
  const budgetField = chat.reasoning_budget_tokens != null ? "reasoning_budget_tokens" : "thinking_token_budget";
  const budget = chat[budgetField];
  return resolveReasoning(
    {
      usual: constrained ? false : undefined,
      ...(enabled != null && { enabled }),
      ...decodeKwargs(chat.chat_template_kwargs),
      ...(effort != null && { effort }),
      ...(budget != null && { budget, budgetField }),
    },
    settings,
  );
}
