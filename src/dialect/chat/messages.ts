// Decodes messages: developer becomes system, text parts are joined, consecutive system messages are merged, and tool
// results are put in the order of their calls.

import type { ChatMessage as WireMessage } from "../../contract/chat.ts";
import { fieldError, missing } from "../../domain/errors.ts";
import { textOf, type ChatMessage, type ContentPart, type ToolCall } from "../../domain/generate.ts";
import { fileParts, imagePart } from "../fields/file-parts.ts";
import { CallArguments } from "../fields/json-object.ts";
import { needText } from "../fields/need-text.ts";
import { withOrderedResults } from "../../domain/turns.ts";

/**
 * Decodes the messages of a conversation. Throws SvcError when a message lacks what its role requires, has parts that
 * it cannot have, or when arguments are too long.
 */
export function decodeMessages(messages: readonly WireMessage[]): ChatMessage[] {
  const decoded: ChatMessage[] = [];
  const texts = new CallArguments("messages");
  for (const [index, message] of withToolRoles(messages).entries()) {
    const next = decodeMessage(message, `messages.${index}`, texts);
    const last = decoded.at(-1);
    if (next.role === "system" && last?.role === "system") {
      decoded[decoded.length - 1] = { ...last, content: `${last.content}\n\n${next.content}` };
    } else decoded.push(next);
  }
  return withOrderedResults(decoded);
}

/** Rewrites the older function calls and results as tool calls; a result belongs to the last call before it. */
function withToolRoles(messages: readonly WireMessage[]): WireMessage[] {
  let last = "";
  return messages.map((message, index) => {
    const { role, function_call: call } = message;
    if (role === "function") return { ...message, role: "tool", tool_call_id: last };
    if (role !== "assistant" || call == null || message.tool_calls?.length) return message;
    last = `call_${index}`;
    return { ...message, tool_calls: [{ id: last, type: "function", function: call }] };
  });
}

function decodeMessage(message: WireMessage, path: string, texts: CallArguments): ChatMessage {
  const role = roleOf(message);
  const content = decodeContent(message, `${path}.content`);
  const reasoning = message.reasoning_content ?? message.reasoning;
  const calls = role === "assistant" ? (message.tool_calls ?? []).map((call) => decodeCall(call, texts)) : [];
  return {
    role,
    content,
    ...(message.name != null && { name: message.name }),
    ...(role === "assistant" && reasoning && { reasoning }),
    ...(calls.length > 0 && { toolCalls: calls }),
    ...(role === "tool" && message.tool_call_id != null && { toolCallId: message.tool_call_id }),
  };
}

/** Maps roles of older clients to current ones. */
function roleOf({ role }: WireMessage): ChatMessage["role"] {
  if (role === "function") return "tool";
  return role === "developer" ? "system" : role;
}

type WireCall = NonNullable<WireMessage["tool_calls"]>[number];

function decodeCall({ id, function: { name, arguments: given } }: WireCall, texts: CallArguments): ToolCall {
  return { id, name, arguments: typeof given === "string" ? texts.json(given) : texts.object(given) };
}

type WirePart = Exclude<NonNullable<WireMessage["content"]>, string>[number];

function decodeContent({ role, content }: WireMessage, param: string): ChatMessage["content"] {
  if (typeof content === "string") return content;
  // Of an assistant that only called tools, and of tools that return nothing.
  if (content == null) return "";
  const decoded = content.map((part, index) => decodePart(part, `${param}.${index}`));
  const parts = decoded.flat();
  const media = decoded.findIndex((each) => each.some(({ type }) => type === "media"));
  if (media < 0) return textOf(parts);
  if (role === "user" || role === "tool") return parts;
  throw fieldError("invalid_value", `${param}.${media}.type`, `must be "text" in a message of this role`);
}

function decodePart(part: WirePart, path: string): ContentPart[] {
  const absent = (field: string, what: string) => missing(`${path}.${field}`, what);
  switch (part.type) {
    case "text":
      return [{ type: "text", text: needText(part.text, `${path}.text`) }];
    case "refusal":
      return [{ type: "text", text: needText(part.refusal, `${path}.refusal`) }];
    case "image_url": {
      if (part.image_url == null) throw absent("image_url", "an object");
      const param = `${path}.image_url`;
      if (typeof part.image_url === "string") return [imagePart(part.image_url, param)];
      const { url, detail: named, languages } = part.image_url;
      const detail = named === "original" ? "high" : (named ?? "auto");
      return [imagePart(url, `${param}.url`, { detail, ...(languages && { languages }) })];
    }
    case "input_audio": {
      if (part.input_audio == null) throw absent("input_audio", "an object");
      const { data, format, language } = part.input_audio;
      const named = { ...(format != null && { format }), ...(language != null && { language }) };
      return [{ type: "media", source: { kind: "audio", data, ...named }, param: `${path}.input_audio.data` }];
    }
    case "file": {
      if (part.file == null) throw absent("file", "an object");
      const { file_data: data, filename } = part.file;
      if (data == null) throw absent("file.file_data", "a data: URL, as files are not taken by id");
      return fileParts(data, filename, `${path}.file.file_data`);
    }
  }
}
