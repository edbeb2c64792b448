// Decides what form the answer must have, by the request's own fields or the launch options.

import type { StructuredFields } from "../../contract/structured.ts";
import { fieldError } from "../../domain/errors.ts";
import type { JsonSchema } from "../../domain/generate.ts";
import { decodeStructure, type Structure } from "../fields/structured.ts";
import { type ChosenTools } from "../fields/tools.ts";
import { schemaConstraint } from "../../json-schema/constraint.ts";

/** `guided`: schema for requests without a format. Throws SvcError when a schema or grammar is invalid. */
export function decodeConstraint(
  asked: StructuredFields,
  { tools }: ChosenTools,
  guided: JsonSchema | undefined,
): Partial<Structure> {
  const own = decodeStructure(asked);
  if (own) {
    const { param, constraint } = own;
    if (constraint.grammar === undefined || tools.length === 0) return own;
    throw fieldError("invalid_value", param, "cannot be used together with 'tools'");
  }
  if (guided === undefined || asked.response_format != null) return {};
  return { asked: guided, constraint: schemaConstraint(guided, false, "response_format.json_schema.schema") };
}
