// Reads the reasoning settings among a request's values for the chat template.

import { received } from "../../contract/schema.ts";
import { fieldError, invalidValue } from "../../domain/errors.ts";
import type { TemplateKwargs } from "../../domain/generate.ts";
import type { ReasoningRequest } from "../../domain/reasoning.ts";

/** Template values that svc itself sets from other, checked fields. */
const OWN = ["messages", "tools", "add_generation_prompt"];

/**
 * Returns the request's own values for the chat template; its `enable_thinking` is an explicit yes or no. Throws
 * SvcError `invalid_type` when that is not a boolean, and `invalid_value` when a name is not well-formed Unicode or
 * other fields set it.
 */
export function decodeKwargs(given: TemplateKwargs | null | undefined): Pick<ReasoningRequest, "kwargs" | "enabled"> {
  const kwargs = given ?? {};
  const broken = Object.keys(kwargs).filter((name) => !name.isWellFormed()).length;
  if (broken > 0) {
    throw invalidValue(
      "chat_template_kwargs",
      "have names that are well-formed Unicode",
      `${broken} with half a surrogate pair`,
    );
  }
  const own = OWN.find((name) => name in kwargs);
  if (own !== undefined) {
    const sentence = "must not be given: other fields of the request set it";
    throw fieldError("invalid_value", `chat_template_kwargs.${own}`, sentence);
  }
  const enabled = kwargs["enable_thinking"];
  if (enabled == null) return { kwargs };
  if (typeof enabled === "boolean") return { kwargs, enabled };
  const param = "chat_template_kwargs.enable_thinking";
  throw fieldError("invalid_type", param, `must be a boolean; got ${received(enabled)}`);
}
