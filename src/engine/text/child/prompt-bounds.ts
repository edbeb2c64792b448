// What is refused before it is rendered: text that cannot fit the context, and more parts than a template can take in a
// moment. Templates look at all messages again and again, and llama.cpp's JSON looks for a key among all before it.

import type { ChatMessage, GenerateRequest } from "../../../domain/generate.ts";
import type { Refusal } from "../../process/protocol.ts";
import type { EngineOptions } from "../protocol.ts";

/** Messages, their parts and their tool calls together. */
const MOST_PARTS = 4096;
/** Names in one object of what templates are given. */
const MOST_NAMES = 1024;
/** Values in all of `chat_template_kwargs`. */
const MOST_VALUES = 8192;
/** Arguments of a tool call that have too many names are longer. */
const SHORT_ARGUMENTS = 4 * MOST_NAMES;

/** Why a prompt is not rendered. `mostBytes`: of text that may fit the context. */
export function tooMuchToRender(
  request: GenerateRequest,
  mostBytes: number,
  { maxModelLen }: Pick<EngineOptions, "maxModelLen">,
): Refusal | undefined {
  const { messages, prompt, suffix = "", templateKwargs } = request;
  if (typeof prompt === "string") return tooLong(Buffer.byteLength(prompt) + Buffer.byteLength(suffix), "prompt");
  const parts = messages.reduce((sum, message) => sum + partsOf(message), 0);
  if (parts > MOST_PARTS) {
    const message = `'messages' must have at most ${MOST_PARTS} messages, parts and tool calls together; got ${parts}.`;
    return { code: "invalid_value", message, param: "messages" };
  }
  const given = count(templateKwargs);
  if (given > MOST_VALUES) return tooMany("chat_template_kwargs", MOST_VALUES, "values", given);
  const names = widest(templateKwargs);
  if (names > MOST_NAMES) return tooMany("chat_template_kwargs", MOST_NAMES, "names in one object", names);
  for (const { arguments: text } of messages.flatMap(({ toolCalls = [] }) => toolCalls)) {
    const called = text.length > SHORT_ARGUMENTS ? widestOf(text) : 0;
    if (called > MOST_NAMES)
      return tooMany("messages", MOST_NAMES, "names in one object of a call's arguments", called);
  }
  return tooLong(
    messages.reduce((sum, message) => sum + bytesOf(message), 0),
    "messages",
  );

  function tooLong(bytes: number, param: string): Refusal | undefined {
    if (bytes <= mostBytes) return undefined;
    const message =
      `This model's context is ${maxModelLen} tokens, which are at most ${mostBytes} bytes of text, but '${param}' has` +
      ` ${bytes} bytes. Shorten the ${param} or start svc with a larger --ctx.`;
    return { code: "context_length_exceeded", message, param };
  }
}

const tooMany = (param: string, most: number, what: string, got: number): Refusal => ({
  code: "invalid_value",
  message: `'${param}' must have at most ${most} ${what}; got ${got}.`,
  param,
});

const partsOf = ({ content, toolCalls = [] }: ChatMessage): number =>
  1 + (typeof content === "string" ? 0 : content.length) + toolCalls.length;

function bytesOf({ content }: ChatMessage): number {
  if (typeof content === "string") return Buffer.byteLength(content);
  return content.reduce((sum, part) => sum + (part.type === "text" ? Buffer.byteLength(part.text) : 0), 0);
}

const membersOf = (value: unknown): readonly unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value) : [];

/** Values in a value. */
const count = (value: unknown): number => membersOf(value).reduce((sum: number, member) => sum + 1 + count(member), 0);

/** Names in the object that has most. */
function widest(value: unknown): number {
  const members = membersOf(value);
  const own = Array.isArray(value) ? 0 : members.length;
  return members.reduce((most: number, member) => Math.max(most, widest(member)), own);
}

/** The same in arguments as a model wrote them, which may be no JSON. */
function widestOf(text: string): number {
  try {
    return widest(JSON.parse(text));
  } catch {
    return 0;
  }
}
