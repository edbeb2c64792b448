// A schema as what an answer is held to.

import type { Constraint, JsonSchema } from "../domain/generate.ts";
import { prepareSchema } from "./prepare.ts";

/** A constraint by the schema that a client wants its answer to follow. Throws SvcError about a schema that is none. */
export function schemaConstraint(schema: JsonSchema, strict: boolean, param: string): Constraint {
  const prepared = prepareSchema(schema, param);
  // llama.cpp takes an empty schema for none, and any value is still JSON.
  const anything = Object.keys(prepared.schema).length === 0;
  return {
    schema: anything ? { anyOf: [{}] } : prepared.schema,
    strict,
    inexpressible: strict && prepared.inexpressible.length > 0,
  };
}
