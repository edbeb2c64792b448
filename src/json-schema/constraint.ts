// Turns a client's schema into the constraint that an answer must satisfy.

import type { Constraint, JsonSchema } from "../domain/generate.ts";
import { prepareSchema } from "./prepare.ts";

/** Returns the constraint for a schema that a client wants its answer to follow. Throws SvcError when it is invalid. */
export function schemaConstraint(schema: JsonSchema, strict: boolean, param: string): Constraint {
  const prepared = prepareSchema(schema, param);
  // llama.cpp treats an empty schema as no schema at all, but the answer must still be JSON.
  const anything = Object.keys(prepared.schema).length === 0;
  return {
    schema: anything ? { anyOf: [{}] } : prepared.schema,
    strict,
    inexpressible: strict && prepared.inexpressible.length > 0,
  };
}
