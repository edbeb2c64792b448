// Wire messages → domain messages: developer is system, text parts are joined, consecutive system turns are one.

import type { ChatMessage as WireMessage } from "../../contract/chat.ts";
import { received } from "../../contract/schema.ts";
import { SvcError } from "../../domain/errors.ts";
import type { ChatMessage } from "../../domain/generate.ts";

/** Throws SvcError when a message lacks content that its role needs, or has content that no text template can show. */
export function decodeMessages(messages: readonly WireMessage[]): ChatMessage[] {
  const decoded: ChatMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const next = decodeMessage(message, `messages.${index}`);
    const last = decoded.at(-1);
    if (next.role === "system" && last?.role === "system") {
      decoded[decoded.length - 1] = { ...last, content: `${last.content}\n\n${next.content}` };
    } else decoded.push(next);
  }
  return decoded;
}

function decodeMessage(message: WireMessage, path: string): ChatMessage {
  if (message.role === "tool") throw unsupported(`${path}.role`, "tool messages are not supported");
  if (message.tool_calls?.length) throw unsupported(`${path}.tool_calls`, "tool calls are not supported");
  const role = message.role === "developer" ? "system" : message.role;
  const content = decodeContent(message, `${path}.content`);
  return { role, content, ...(message.name != null && { name: message.name }) };
}

function decodeContent({ role, content }: WireMessage, param: string): string {
  if (typeof content === "string") return content;
  if (content == null) {
    if (role === "assistant") return "";
    if (content === undefined) throw new SvcError("missing_required_parameter", `'${param}' is required.`, { param });
    const message = `'${param}' must be a string or an array of parts for this role; got ${received(content)}.`;
    throw new SvcError("invalid_type", message, { param });
  }
  return content
    .map(({ type, text }, index) => {
      if (type !== "text") throw unsupported(`${param}.${index}.type`, "only parts of type text are supported");
      if (text != null) return text;
      const field = `${param}.${index}.text`;
      throw new SvcError("missing_required_parameter", `'${field}' is required: a string.`, { param: field });
    })
    .join("\n");
}

const unsupported = (param: string, rule: string): SvcError =>
  new SvcError("unsupported_parameter", `'${param}': ${rule}.`, { param });
