// What servers enforce of a request whose schema or tools are strict.

import type { Generation } from "../domain/generate.ts";
import type { ServerTraits } from "./server-kind.ts";

/** Returns whether a server with these traits enforces the request's schema and its strict tools while sampling. */
export function enforces(
  { constraint, tools, toolChoice }: Generation,
  { enforcesSchemas, enforcesCalls }: Pick<ServerTraits, "enforcesSchemas" | "enforcesCalls">,
): boolean {
  if (constraint?.schema !== undefined && !enforcesSchemas) return false;
  if (!tools.some(({ strict }) => strict) || enforcesCalls === "all") return true;
  return toolChoice === "required" && enforcesCalls === "required";
}
