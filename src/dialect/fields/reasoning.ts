// Whether, how hard and how long the model may think before it answers: what every dialect's fields come to.

import { received } from "../../contract/schema.ts";
import { SvcError } from "../../domain/errors.ts";
import type { TemplateKwargs } from "../../domain/generate.ts";

/** Levels of effort that clients may name; templates know three. */
const EFFORTS = {
  minimal: "low",
  low: "low",
  medium: "high",
  high: "high",
  xhigh: "max",
  max: "max",
} as const;

export type Effort = keyof typeof EFFORTS | "none";

/** Launch options. */
export interface ReasoningSettings {
  readonly templateKwargs: TemplateKwargs;
  /** False: no request may think. */
  readonly think: boolean;
  readonly reasoningBudget?: number;
}

export interface AskedReasoning {
  /** An explicit yes or no; wins over the effort. */
  readonly enabled?: boolean;
  readonly effort?: Effort;
  /** Tokens; -1 lifts the server's default. */
  readonly budget?: number;
  /** The request's own values for the chat template. */
  readonly kwargs?: TemplateKwargs;
}

export interface Reasoning {
  readonly thinking: boolean;
  readonly templateKwargs: TemplateKwargs;
  readonly reasoningBudget?: number;
}

/**
 * The request's own values for the chat template; its `enable_thinking` is an explicit yes or no. Throws SvcError
 * `invalid_type` when that is no boolean, and `invalid_value` when a name has no UTF-8.
 */
export function decodeKwargs(asked: TemplateKwargs | null | undefined): Pick<AskedReasoning, "kwargs" | "enabled"> {
  const kwargs = asked ?? {};
  const broken = Object.keys(kwargs).filter((name) => !name.isWellFormed()).length;
  if (broken > 0) {
    const message = `'chat_template_kwargs' must have names that are well-formed Unicode; got ${broken} with half a surrogate pair.`;
    throw new SvcError("invalid_value", message, { param: "chat_template_kwargs" });
  }
  const enabled = kwargs["enable_thinking"];
  if (enabled == null) return { kwargs };
  if (typeof enabled === "boolean") return { kwargs, enabled };
  const param = "chat_template_kwargs.enable_thinking";
  throw new SvcError("invalid_type", `'${param}' must be a boolean; got ${received(enabled)}.`, { param });
}

/**
 * Thinking is off unless the request or a launch option asks for it. A `reasoning_effort` among the template's values
 * stays all the same, for templates that always think.
 */
export function resolveReasoning(asked: AskedReasoning, settings: ReasoningSettings): Reasoning {
  const { effort } = asked;
  const kwargs: Record<string, unknown> = { ...settings.templateKwargs, ...asked.kwargs };
  const wanted = asked.enabled ?? (effort === undefined ? kwargs["enable_thinking"] === true : effort !== "none");
  const thinking = settings.think && wanted;
  delete kwargs["enable_thinking"];
  if (effort === "none" || !settings.think) delete kwargs["reasoning_effort"];
  else if (effort !== undefined && thinking) kwargs["reasoning_effort"] = EFFORTS[effort];
  const budget = asked.budget ?? settings.reasoningBudget ?? -1;
  return { thinking, templateKwargs: kwargs, ...(budget >= 0 && { reasoningBudget: budget }) };
}
