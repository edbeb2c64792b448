// A request's settings of thinking among its values for the chat template.

import { received } from "../../contract/schema.ts";
import { SvcError } from "../../domain/errors.ts";
import type { TemplateKwargs } from "../../domain/generate.ts";
import type { AskedReasoning } from "../../domain/reasoning.ts";

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
