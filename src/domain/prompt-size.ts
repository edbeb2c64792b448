// Detects prompts that are obviously too large. Checked before a request is sent to the engine process, because sending
// 90 MB stalls the streams of all other requests, and again there, for requests received while the model was loading.

import { invalidValue, SvcError } from "./errors.ts";
import type { ChatMessage, GenerateRequest } from "./generate.ts";

/** Maximum number of messages, parts and tool calls together. */
const MOST_PARTS = 4096;
/** Maximum characters of tools, of template values, and of messages besides their content: templates may omit these. */
const MOST_BESIDE = 4_000_000;
/** Maximum characters to tokenize for one request where no context limits the prompt. */
const MOST_TOKENIZED = 8 * 1024 * 1024;

export interface PromptLimits {
  readonly maxModelLen: number;
  /** Most bytes of text that may fit the context; absent: unknown. */
  readonly mostPromptBytes?: number | undefined;
}

/** Returns the request field that holds the prompt. */
export const fieldOfPrompt = ({ prompt }: Prompted): "messages" | "prompt" =>
  prompt === undefined ? "messages" : "prompt";

type Prompted = Pick<GenerateRequest, "prompt">;

/** Returns why a prompt is too large; undefined if it may fit. Takes no time: it counts, but reads no text. */
export function tooLargePrompt(request: GenerateRequest, limits: PromptLimits): SvcError | undefined {
  const parts = request.messages.reduce((sum, message) => sum + partsOf(message), 0);
  if (parts > MOST_PARTS) {
    return invalidValue("messages", `have at most ${MOST_PARTS} messages, parts and tool calls together`, parts);
  }
  const { prompt } = request;
  const tooMany = typeof prompt === "object" ? tooManyTokens(request, prompt.length, limits.maxModelLen) : undefined;
  return tooMany ?? tooLongPrompt(request, limits, unitsOf) ?? tooMuchBeside(request, limits);
}

/** Returns why a prompt of `tokens` tokens cannot be answered; undefined if it can. */
export function tooManyTokens(request: Prompted, tokens: number, maxModelLen: number): SvcError | undefined {
  if (tokens < maxModelLen) return undefined;
  const param = fieldOfPrompt(request);
  const message = `${exceeding(tokens, maxModelLen)}, and the answer needs at least 1 of them. ${remedy(param)}`;
  return new SvcError("context_length_exceeded", message, { param });
}

/**
 * Returns the start of every error message about a prompt with too many tokens. Agents and SDKs look for this wording
 * of OpenAI and Anthropic, and then shorten the conversation.
 */
export const exceeding = (tokens: number, maxModelLen: number): string =>
  `The prompt is too long: ${tokens} tokens > ${maxModelLen - 1}. ${contextOf(maxModelLen)}`;

const contextOf = (maxModelLen: number): string => `This model's maximum context length is ${maxModelLen} tokens`;

const remedy = (param: string): string => `Shorten '${param}' or start svc with a larger --ctx.`;

/** Returns why the text of a prompt cannot fit the context, if so; `measure`: the fewest bytes that a text can have. */
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

/** Returns why the tokens of a prompt cannot be counted, if so: their number is not limited, only the text's length. */
export function tooLongToCount(request: GenerateRequest): SvcError | undefined {
  return tooLongToTokenize(
    promptLength(request, unitsOf) + besides(request).reduce((sum, [, length]) => sum + length, 0),
  );
}

/** Returns why a text of `length` characters cannot be tokenized; undefined if it can. */
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

/** Returns the characters of each field besides the prompt itself. */
const besides = ({ messages, tools, allTools, templateKwargs }: GenerateRequest): readonly [string, number][] => [
  ["messages", messages.reduce((sum, message) => sum + lengthOf({ ...message, content: "" }), 0)],
  ["tools", lengthOf((allTools ?? tools).map(({ name, description, parameters }) => [name, description, parameters]))],
  ["chat_template_kwargs", lengthOf(templateKwargs)],
];

/** Returns the fewest bytes that a text can have: each UTF-16 unit is at least one byte. */
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

/** Returns the characters of all strings and member names in a value. Does not read the texts. */
export function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  const names = Array.isArray(value) ? 0 : Object.keys(value).reduce((sum, name) => sum + name.length, 0);
  return Object.values(value).reduce((sum: number, member) => sum + lengthOf(member), names);
}
