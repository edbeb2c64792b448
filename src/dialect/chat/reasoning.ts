// Whether, how hard and how long the model may think before it answers.

import type { ChatCompletionRequest } from "../../contract/chat.ts";
import { SvcError } from "../../domain/errors.ts";
import type { TemplateKwargs } from "../../domain/generate.ts";

type Effort = NonNullable<ChatCompletionRequest["reasoning_effort"]>;

/** Templates know three levels; clients may send seven. */
const EFFORTS: Readonly<Record<Exclude<Effort, "none">, "low" | "high" | "max">> = {
  minimal: "low",
  low: "low",
  medium: "high",
  high: "high",
  xhigh: "max",
  max: "max",
};

export interface Reasoning {
  readonly thinking: boolean;
  readonly templateKwargs: TemplateKwargs;
  readonly reasoningBudget?: number;
}

/**
 * Thinking is off unless the request or a launch option asks for it; an explicit `enable_thinking: false` of the request
 * wins over its effort. Throws SvcError `invalid_type` when `enable_thinking` is no boolean.
 */
export function decodeReasoning(
  chat: ChatCompletionRequest,
  settings: { readonly templateKwargs: TemplateKwargs; readonly think: boolean; readonly reasoningBudget?: number },
): Reasoning {
  const own = chat.chat_template_kwargs ?? {};
  const effort = chat.reasoning_effort ?? undefined;
  const kwargs: Record<string, unknown> = { ...settings.templateKwargs, ...own };
  const asked = own["enable_thinking"] ?? (effort === undefined ? kwargs["enable_thinking"] : effort !== "none");
  if (asked != null && typeof asked !== "boolean") {
    const param = "chat_template_kwargs.enable_thinking";
    throw new SvcError("invalid_type", `'${param}' must be a boolean.`, { param });
  }
  const thinking = settings.think && (asked ?? false);
  delete kwargs["enable_thinking"];
  if (effort === "none" || !thinking) delete kwargs["reasoning_effort"];
  else if (effort !== undefined) kwargs["reasoning_effort"] = EFFORTS[effort];
  const requested = chat.reasoning_budget_tokens ?? settings.reasoningBudget ?? -1;
  return { thinking, templateKwargs: kwargs, ...(requested >= 0 && { reasoningBudget: requested }) };
}
