// Whether, how hard and how long the model may think before it answers: what was asked and the launch options come to.

import type { Generation, TemplateKwargs } from "./generate.ts";

/** Levels of effort that clients may name; templates know three. */
const EFFORTS = {
  minimal: "low",
  low: "low",
  medium: "high",
  high: "high",
  xhigh: "max",
  max: "max",
} as const;

type Effort = keyof typeof EFFORTS | "none";

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
  /** The field that has it, where clients send one only if it is to hold. */
  readonly budgetField?: string;
  /** The request's own values for the chat template. */
  readonly kwargs?: TemplateKwargs;
  /** Where neither the request nor a launch option says: false is no, undefined the chat template's own way. */
  readonly usual: false | undefined;
}

export type Reasoning = Pick<Generation, "thinking" | "templateKwargs" | "reasoningBudget" | "budgetField">;

/**
 * The request says whether the model thinks, then a launch option, then `usual`. A `reasoning_effort` among the template's
 * values stays whether or not, for templates that always think.
 */
export function resolveReasoning(asked: AskedReasoning, settings: ReasoningSettings): Reasoning {
  const { effort } = asked;
  const kwargs: Record<string, unknown> = { ...settings.templateKwargs, ...asked.kwargs };
  const wanted = asked.enabled ?? (effort === undefined ? yesOrNo(kwargs["enable_thinking"]) : effort !== "none");
  const thinking = settings.think ? (wanted ?? asked.usual) : false;
  delete kwargs["enable_thinking"];
  if (effort === "none" || !settings.think) delete kwargs["reasoning_effort"];
  else if (effort !== undefined && thinking) kwargs["reasoning_effort"] = EFFORTS[effort];
  const budget = asked.budget ?? settings.reasoningBudget ?? -1;
  const field = asked.budget === undefined ? undefined : asked.budgetField;
  return {
    ...(thinking !== undefined && { thinking }),
    templateKwargs: kwargs,
    ...(budget >= 0 && { reasoningBudget: budget, ...(field !== undefined && { budgetField: field }) }),
  };
}

const yesOrNo = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);
