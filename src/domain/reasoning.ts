// Decides from the request and the launch options whether the model reasons, with what effort and for how long.

import type { Generation, TemplateKwargs } from "./generate.ts";

/** The effort levels that clients may name, mapped to the three levels of templates. */
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
  /** False: reasoning is off for all requests. */
  readonly think: boolean;
  readonly reasoningBudget?: number;
}

export interface ReasoningRequest {
  /** An explicit yes or no; takes precedence over `effort`. */
  readonly enabled?: boolean;
  readonly effort?: Effort;
  /** False: `effort` does not turn reasoning on or off; templates receive it unless reasoning is off. */
  readonly effortDecides?: false;
  /** Tokens; -1 removes the server's default limit. */
  readonly budget?: number;
  /** The request field of the budget, if clients send that field only to enforce it. */
  readonly budgetField?: string;
  /** The request's own values for the chat template. */
  readonly kwargs?: TemplateKwargs;
  /** If neither the request nor a launch option decides: false: no reasoning; undefined: the template's default. */
  readonly usual: false | undefined;
}

export type Reasoning = Pick<
  Generation,
  "thinking" | "templateKwargs" | "asksForKwargs" | "reasoningBudget" | "budgetField"
>;

/** Template values with an equivalent at servers that take no others. */
const COMMON: ReadonlySet<string> = new Set(["enable_thinking", "reasoning_effort"]);

/**
 * Resolves whether the model reasons: the request decides, then a launch option, then `usual`. A `reasoning_effort`
 * among the template values is kept either way, for templates that always reason.
 */
export function resolveReasoning(request: ReasoningRequest, settings: ReasoningSettings): Reasoning {
  const { effort, effortDecides = true } = request;
  const kwargs: Record<string, unknown> = { ...settings.templateKwargs, ...request.kwargs };
  const byEffort = effort === undefined || !effortDecides ? undefined : effort !== "none";
  const wanted = request.enabled ?? byEffort ?? yesOrNo(kwargs["enable_thinking"]);
  const thinking = settings.think ? (wanted ?? request.usual) : false;
  delete kwargs["enable_thinking"];
  if (effort === "none" || !settings.think) delete kwargs["reasoning_effort"];
  // Templates that know only the effort would reason with it, although the request, or a launch option, says no.
  else if (effort !== undefined && wanted !== false) kwargs["reasoning_effort"] = EFFORTS[effort];
  const asksForKwargs = Object.keys(request.kwargs ?? {}).some((name) => !COMMON.has(name));
  const budget = request.budget ?? settings.reasoningBudget ?? -1;
  const field = request.budget === undefined ? undefined : request.budgetField;
  return {
    ...(thinking !== undefined && { thinking }),
    templateKwargs: kwargs,
    ...(asksForKwargs && { asksForKwargs }),
    ...(budget >= 0 && { reasoningBudget: budget, ...(field !== undefined && { budgetField: field }) }),
  };
}

const yesOrNo = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);
