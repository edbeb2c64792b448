// Refuses prompts before rendering: text that cannot fit the context, and more parts than a template processes quickly.
// Templates scan all messages repeatedly, and llama.cpp's JSON scans all earlier keys to find one.

import type { Llama } from "../../../../ffi/llama/api.ts";
import { invalidValue, type SvcError } from "../../../domain/errors.ts";
import type { GenerateRequest } from "../../../domain/generate.ts";
import { tooLargePrompt, tooLongPrompt, type PromptLimits } from "../../../domain/prompt-size.ts";
import type { EngineOptions } from "../protocol.ts";

/** Most names in one object that templates receive. */
const MOST_NAMES = 1024;
/** Most values in all of `chat_template_kwargs`. */
const MOST_VALUES = 8192;
/** Most values in the schemas of all tools. */
const MOST_TOOL_VALUES = 100_000;
/** Characters of a tool call's arguments up to which they cannot have too many names. */
const SHORT_ARGUMENTS = 4 * MOST_NAMES;

export function promptLimits(llama: Llama, { maxModelLen }: Pick<EngineOptions, "maxModelLen">): PromptLimits {
  const { longestToken } = llama.model();
  return { maxModelLen, ...(longestToken > 0 && { mostPromptBytes: longestToken * maxModelLen }) };
}

/** Returns why a prompt is not rendered; undefined if it is. */
export function tooMuchToRender(request: GenerateRequest, limits: PromptLimits): SvcError | undefined {
  const tooLarge = tooLargePrompt(request, limits);
  if (tooLarge) return tooLarge;
  const { messages, tools, templateKwargs } = request;
  const schemas = tools.map(({ parameters }) => parameters);
  for (const [param, value, most] of [
    ["chat_template_kwargs", templateKwargs, MOST_VALUES],
    ["tools", schemas, MOST_TOOL_VALUES],
  ] as const) {
    const given = count(value);
    if (given > most) return tooMany(param, most, "values", given);
    const names = widest(value);
    if (names > MOST_NAMES) return tooMany(param, MOST_NAMES, "names in one object", names);
  }
  for (const { arguments: text } of messages.flatMap(({ toolCalls = [] }) => toolCalls)) {
    const called = text.length > SHORT_ARGUMENTS ? widestOf(text) : 0;
    if (called > MOST_NAMES)
      return tooMany("messages", MOST_NAMES, "names in one object of a call's arguments", called);
  }
  return tooLongPrompt(request, limits, (text) => Buffer.byteLength(text));
}

const tooMany = (param: string, most: number, what: string, got: number): SvcError =>
  invalidValue(param, `have at most ${most} ${what}`, got);

const membersOf = (value: unknown): readonly unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value) : [];

/** Counts the values inside a value. */
const count = (value: unknown): number => membersOf(value).reduce((sum: number, member) => sum + 1 + count(member), 0);

/** Returns the number of names in the largest object. */
function widest(value: unknown): number {
  const members = membersOf(value);
  const own = Array.isArray(value) ? 0 : members.length;
  return members.reduce((most: number, member) => Math.max(most, widest(member)), own);
}

/** Does the same for arguments that a model wrote, which may not be valid JSON. */
function widestOf(text: string): number {
  try {
    return widest(JSON.parse(text));
  } catch {
    return 0;
  }
}
