// Arguments of a call: as an object, for dialects that do not pass them on as text, and as text for templates.

import { JsonBounds } from "../../domain/json-bounds.ts";
import { withWholePairs } from "../../domain/whole-pairs.ts";

/** The object that `json` is; an empty one for text that is none, as where the token limit truncated it. */
export function objectOf(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

/** The text of arguments that came as an object; none are an empty one. */
export const argumentsOf = (value: unknown): string => withWholePairs(JSON.stringify(value ?? {}));

/**
 * Templates read arguments as JSON: what is none, as from a truncated answer, goes in as one string. So does what
 * nests deeper than a request may, because they read it level by level on a native stack.
 */
export function jsonArguments(text: string): string {
  if (text === "") return "{}";
  return withWholePairs(isReadable(text) ? text : JSON.stringify(text));
}

function isReadable(text: string): boolean {
  if (new JsonBounds().push(new TextEncoder().encode(text))) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
