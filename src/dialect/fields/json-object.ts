// Arguments of a call: as an object, for dialects that do not pass them on as text, and as text for templates.

import { SvcError } from "../../domain/errors.ts";
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

/** Characters of all arguments of a conversation that are text. */
const MOST_ARGUMENTS = 4_000_000;

/** Arguments of the calls of one conversation that came as text. */
export class CallArguments {
  private readonly bounds = new JsonBounds();
  private length = 0;

  /** `param`: the field that has the conversation. */
  constructor(private readonly param: string) {}

  /** One call's arguments, as `jsonArguments` has them. Throws SvcError `invalid_value` when those so far are too long. */
  json(text: string): string {
    const { param } = this;
    this.length += text.length;
    if (this.length <= MOST_ARGUMENTS) return jsonArguments(text, this.bounds);
    const message = `The arguments of all calls in '${param}' must have at most ${MOST_ARGUMENTS} characters; got at least ${this.length}.`;
    throw new SvcError("invalid_value", message, { param });
  }
}

/**
 * Templates read arguments as JSON: what is none, as from a truncated answer, goes in as one string. So does what nests
 * deeper or has more values than a request may, because they read it level by level on a native stack.
 */
export function jsonArguments(text: string, bounds = new JsonBounds()): string {
  if (text === "") return "{}";
  return withWholePairs(isReadable(text, bounds) ? text : JSON.stringify(text));
}

function isReadable(text: string, bounds: JsonBounds): boolean {
  bounds.next();
  if (bounds.push(new TextEncoder().encode(text))) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
