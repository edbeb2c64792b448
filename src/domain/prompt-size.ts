// Requests whose prompt is too much at first sight. Looked at before a request goes to the engine's process, because sending
// 90 MB there stops the streams of all others meanwhile, and again there for those that came while the model was loading.

import { invalidValue, SvcError } from "./errors.ts";
import type { ChatMessage, GenerateRequest } from "./generate.ts";

/** Messages, their parts and their tool calls together. */
const MOST_PARTS = 4096;

export interface PromptLimits {
  readonly maxModelLen: number;
  /** Bytes of text that may fit the context; absent: not known. */
  readonly mostPromptBytes?: number | undefined;
}

/** Why a prompt is too much; undefined when it may fit. Counts what there is and looks into no text, so it takes no time. */
export function tooLargePrompt(request: GenerateRequest, limits: PromptLimits): SvcError | undefined {
  const { messages, prompt, suffix = "" } = request;
  if (typeof prompt === "string") return tooLongPrompt("prompt", prompt.length + suffix.length, limits);
  const parts = messages.reduce((sum, message) => sum + partsOf(message), 0);
  if (parts > MOST_PARTS) {
    return invalidValue("messages", `have at most ${MOST_PARTS} messages, parts and tool calls together`, parts);
  }
  // Every UTF-16 unit is a byte at least.
  const units = messages.reduce((sum, message) => sum + unitsOf(message), 0);
  return tooLongPrompt("messages", units, limits);
}

/** Why a field with so many bytes of text, at least, cannot fit the context. */
export function tooLongPrompt(
  param: "prompt" | "messages",
  bytes: number,
  { maxModelLen, mostPromptBytes }: PromptLimits,
): SvcError | undefined {
  if (mostPromptBytes === undefined || bytes <= mostPromptBytes) return undefined;
  const message =
    `This model's context is ${maxModelLen} tokens, which are at most ${mostPromptBytes} bytes of text, but '${param}'` +
    ` has at least ${bytes} bytes. Shorten the ${param} or start svc with a larger --ctx.`;
  return new SvcError("context_length_exceeded", message, { param });
}

const partsOf = ({ content, toolCalls = [] }: ChatMessage): number =>
  1 + (typeof content === "string" ? 0 : content.length) + toolCalls.length;

function unitsOf({ content }: ChatMessage): number {
  if (typeof content === "string") return content.length;
  return content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
}
