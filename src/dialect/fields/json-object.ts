// Arguments of a tool call: as an object for dialects that have no text form, and as text for templates.

import { SvcError } from "../../domain/errors.ts";
import { isObject, jsonOf, type JsonObject } from "../../domain/json.ts";
import { JsonBounds } from "../../domain/json-bounds.ts";
import { lengthOf } from "../../domain/prompt-size.ts";
import { withWholePairs } from "../../domain/whole-pairs.ts";

/** Parses `json` as an object; returns an empty object for other text, such as JSON cut off by the token limit. */
export function objectOf(json: string): JsonObject {
  const value = jsonOf(json);
  return isObject(value) ? value : {};
}

/** Most characters of all arguments of a conversation. */
const MOST_ARGUMENTS = 4_000_000;

/** Checks the arguments of the calls of one conversation. */
export class CallArguments {
  private readonly bounds = new JsonBounds();
  private length = 0;

  /** `param`: the field that holds the conversation. */
  constructor(private readonly param: string) {}

  /** Returns one call's arguments like `jsonArguments`. Throws SvcError `invalid_value` when all are too long. */
  json(text: string): string {
    this.add(text.length);
    return jsonArguments(text, this.bounds);
  }

  /** Returns the text of one call's arguments that came as an object; none become an empty one. Throws like `json`. */
  object(value: unknown): string {
    this.add(lengthOf(value));
    return withWholePairs(JSON.stringify(value ?? {}));
  }

  private add(length: number): void {
    const { param } = this;
    this.length += length;
    if (this.length <= MOST_ARGUMENTS) return;
    const message = `The arguments of all calls in '${param}' must have at most ${MOST_ARGUMENTS} characters; got at least ${this.length}.`;
    throw new SvcError("invalid_value", message, { param });
  }
}

/**
 * Returns arguments as JSON, which templates expect. Text that is not JSON, as in a truncated answer, becomes one
 * string. So does JSON that exceeds a request's bounds: templates recurse over it on a native stack.
 */
export function jsonArguments(text: string, bounds = new JsonBounds()): string {
  if (text === "") return "{}";
  return withWholePairs(isReadable(text, bounds) ? text : JSON.stringify(text));
}

function isReadable(text: string, bounds: JsonBounds): boolean {
  bounds.next();
  return !bounds.push(new TextEncoder().encode(text)) && jsonOf(text) !== undefined;
}
