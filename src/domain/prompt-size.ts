// Requests whose prompt is too much at first sight. Looked at before a request goes to the engine's process, because sending
// 90 MB there stops the streams of all others meanwhile, and again there for those that came while the model was loading.

import { invalidValue, SvcError } from "./errors.ts";
import type { ChatMessage, GenerateRequest } from "./generate.ts";

/** Messages, their parts and their tool calls together. */
const MOST_PARTS = 4096;
/** Characters of the tools, of what goes to the template, and of messages beside their content: templates may leave all of it out. */
const MOST_BESIDE = 4_000_000;
/** Characters that are tokenized for one request outside a prompt that has to fit the context. */
const MOST_TOKENIZED = 8 * 1024 * 1024;

export interface PromptLimits {
  readonly maxModelLen: number;
  /** Bytes of text that may fit the context; absent: not known. */
  readonly mostPromptBytes?: number | undefined;
}

/** The field that a prompt came in. */
export const fieldOfPrompt = ({ prompt }: GenerateRequest): "messages" | "prompt" =>
  prompt === undefined ? "messages" : "prompt";

/** Why a prompt is too much; undefined when it may fit. Counts what there is and looks into no text, so it takes no time. */
export function tooLargePrompt(request: GenerateRequest, limits: PromptLimits): SvcError | undefined {
  const parts = request.messages.reduce((sum, message) => sum + partsOf(message), 0);
  if (parts > MOST_PARTS) {
    return invalidValue("messages", `have at most ${MOST_PARTS} messages, parts and tool calls together`, parts);
  }
  const { prompt } = request;
  const tooMany = typeof prompt === "object" ? tooManyTokens(request, prompt.length, limits.maxModelLen) : undefined;
  return tooMany ?? tooLongPrompt(request, limits, unitsOf) ?? tooMuchBeside(request, limits);
}

/** Why a prompt of so many tokens cannot be answered; undefined when it can. */
export function tooManyTokens(request: GenerateRequest, tokens: number, maxModelLen: number): SvcError | undefined {
  if (tokens < maxModelLen) return undefined;
  const param = fieldOfPrompt(request);
  const message = `${exceeding(tokens, maxModelLen)}, and the answer needs at least 1 of them. ${remedy(param)}`;
  return new SvcError("context_length_exceeded", message, { param });
}

/**
 * What every refusal of a prompt begins with that has too many tokens for the context. Agents and SDKs look for these words of
 * OpenAI's and Anthropic's, and then shorten the conversation.
 */
export const exceeding = (tokens: number, maxModelLen: number): string =>
  `The prompt is too long: ${tokens} tokens > ${maxModelLen - 1}. ${contextOf(maxModelLen)}`;

const contextOf = (maxModelLen: number): string => `This model's maximum context length is ${maxModelLen} tokens`;

const remedy = (param: string): string => `Shorten '${param}' or start svc with a larger --ctx.`;

/** Why the text of a prompt cannot fit the context; `measure`: bytes that a text has at least. */
export function tooLongPrompt(
  request: GenerateRequest,
  { maxModelLen, mostPromptBytes }: PromptLimits,
  measure: (text: string) => number,
): SvcError | undefined {
  const bytes = promptLength(request, measure);
  if (mostPromptBytes === undefined || bytes <= mostPromptBytes) return undefined;
  const param = fieldOfPrompt(request);
  const message =
    `The prompt is too long: '${param}' has at least ${bytes} bytes. ${contextOf(maxModelLen)},` +
    ` which are at most ${mostPromptBytes} bytes of text. ${remedy(param)}`;
  return new SvcError("context_length_exceeded", message, { param });
}

/** Why a prompt is too much for its tokens to be counted: as it may have any number of them, only its text bounds the work. */
export function tooLongToCount(request: GenerateRequest): SvcError | undefined {
  return tooLongToTokenize(
    promptLength(request, unitsOf) + besides(request).reduce((sum, [, length]) => sum + length, 0),
  );
}

/** The same of a text of so many characters. */
export function tooLongToTokenize(length: number): SvcError | undefined {
  if (length <= MOST_TOKENIZED) return undefined;
  const message = `The text is too long: at most ${MOST_TOKENIZED} characters are tokenized for a request; got ${length}.`;
  return new SvcError("payload_too_large", message);
}

function tooMuchBeside(request: GenerateRequest, { mostPromptBytes = 0 }: PromptLimits): SvcError | undefined {
  const most = Math.max(mostPromptBytes, MOST_BESIDE);
  const excess = besides(request).find(([, length]) => length > most);
  if (!excess) return undefined;
  const [param, length] = excess;
  const what = param === "messages" ? "characters beside their content" : "characters";
  return invalidValue(param, `have at most ${most} ${what}`, length);
}

/** Characters of each field that has any beside the prompt itself. */
const besides = ({ messages, tools, allTools, templateKwargs }: GenerateRequest): readonly [string, number][] => [
  ["messages", messages.reduce((sum, message) => sum + lengthOf({ ...message, content: "" }), 0)],
  ["tools", lengthOf((allTools ?? tools).map(({ name, description, parameters }) => [name, description, parameters]))],
  ["chat_template_kwargs", lengthOf(templateKwargs)],
];

/** Every UTF-16 unit is a byte at least. */
const unitsOf = (text: string): number => text.length;

function promptLength({ messages, prompt, suffix, gap }: GenerateRequest, measure: (text: string) => number): number {
  const texts =
    typeof prompt === "string"
      ? [
          prompt,
          suffix ?? "",
          gap?.begun ?? "",
          ...(gap?.files ?? []).flatMap(({ filename, text }) => [filename, text]),
        ]
      : messages.flatMap(textsOf);
  return texts.reduce((sum, text) => sum + measure(text), 0);
}

const partsOf = ({ content, toolCalls = [] }: ChatMessage): number =>
  1 + (typeof content === "string" ? 0 : content.length) + toolCalls.length;

function textsOf({ content }: ChatMessage): readonly string[] {
  if (typeof content === "string") return [content];
  return content.flatMap((part) => (part.type === "text" ? [part.text] : []));
}

/** Characters of all strings and names in a value. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  const names = Array.isArray(value) ? 0 : Object.keys(value).reduce((sum, name) => sum + name.length, 0);
  return Object.values(value).reduce((sum: number, member) => sum + lengthOf(member), names);
}
