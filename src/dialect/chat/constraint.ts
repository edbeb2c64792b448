// What the answer must look like: response format or grammar, from the request or from the launch options.

import type { ChatCompletionRequest } from "../../contract/chat.ts";
import { SvcError } from "../../domain/errors.ts";
import type { Constraint, JsonSchema } from "../../domain/generate.ts";
import { grammarConstraint } from "../fields/grammar.ts";
import { schemaConstraint, type ChosenTools } from "../fields/tools.ts";

/** A constraint, and the client's own schema for a prompt that has to state it in words. */
export interface DecodedConstraint {
  readonly constraint?: Constraint;
  readonly asked?: JsonSchema;
}

const ANY_OBJECT: JsonSchema = { type: "object" };

/** `guided`: the schema of requests that name no format. Throws SvcError about a schema that is none. */
export function decodeConstraint(
  chat: ChatCompletionRequest,
  tools: ChosenTools,
  guided: JsonSchema | undefined,
): DecodedConstraint {
  const { response_format: format, grammar } = chat;
  if (grammar != null) {
    refuseBesideGrammar(tools, format?.type);
    return { constraint: grammarConstraint(grammar) };
  }
  const asked = schemaOf(format) ?? (format == null ? guided : undefined);
  if (asked === undefined) return {};
  const strict = format?.json_schema?.strict === true;
  return { asked, constraint: schemaConstraint(asked, strict, "response_format.json_schema.schema") };
}

function schemaOf(format: ChatCompletionRequest["response_format"]): JsonSchema | undefined {
  if (format == null || format.type === "text") return undefined;
  if (format.type === "json_object") return ANY_OBJECT;
  if (format.json_schema != null) return format.json_schema.schema ?? ANY_OBJECT;
  const param = "response_format.json_schema";
  throw new SvcError("missing_required_parameter", `'${param}' is required: an object.`, { param });
}

function refuseBesideGrammar({ tools }: ChosenTools, format: string | undefined): void {
  const param = "grammar";
  const other = tools.length > 0 ? "tools" : format != null && format !== "text" ? "response_format" : undefined;
  if (other) throw new SvcError("invalid_value", `'${param}' cannot be used together with '${other}'.`, { param });
}
