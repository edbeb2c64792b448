// Decodes messages and blocks of the Messages API into a conversation.

import type { MessagesBlock, MessagesPrompt } from "../../contract/messages.ts";
import { received } from "../../contract/schema.ts";
import { fieldError, SvcError } from "../../domain/errors.ts";
import { joinedParts, type ChatMessage, type ContentPart, type ToolCall } from "../../domain/generate.ts";
import { documentPart, imagePart } from "../fields/file-parts.ts";
import { CallArguments } from "../fields/json-object.ts";
import { needText } from "../fields/need-text.ts";
import { joinTurns, withOrderedResults } from "../../domain/turns.ts";
import { toolDescriptions, type DescribeTool } from "./deferred-tools.ts";

type WireMessage = MessagesPrompt["messages"][number];

/** Agents put this changing line before their system prompt; it would spoil every cached prefix. */
const VOLATILE_LINE = /^x-anthropic-billing-header:[^\n]*(\n|$)/;

/**
 * Decodes the conversation. Throws SvcError about a block that its role cannot have or that lacks a field of its type.
 * `tools`: the tools that blocks may refer to.
 */
export function decodeConversation({ system, messages, tools }: MessagesPrompt): ChatMessage[] {
  const instructions = decodeSystem(system ?? "");
  const first: ChatMessage[] = instructions === "" ? [] : [{ role: "system", content: instructions }];
  const shared = { describe: toolDescriptions(tools ?? []), inputs: new CallArguments("messages") };
  const rest = messages.flatMap((message, index) => decodeMessage(message, `messages.${index}`, shared));
  return withOrderedResults(joinTurns([...first, ...rest]));
}

function decodeSystem(system: NonNullable<MessagesPrompt["system"]>): string {
  const texts = typeof system === "string" ? [system] : system.map(({ text }) => text);
  return texts
    .map((text) => text.replace(VOLATILE_LINE, ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** What all messages of a conversation share. */
interface Shared {
  readonly describe: DescribeTool;
  readonly inputs: CallArguments;
}

function decodeMessage({ role, content }: WireMessage, path: string, { describe, inputs }: Shared): ChatMessage[] {
  if (typeof content === "string") return [{ role, content }];
  const blocks = content.map((block, index) => ({ block, path: `${path}.content.${index}` }));
  if (role === "assistant") return [decodeAssistant(blocks, inputs)];
  const results: ChatMessage[] = [];
  const parts: ContentPart[] = [];
  for (const { block, path: at } of blocks) {
    if (block.type === "tool_result" && role === "user") results.push(decodeResult(block, at, describe));
    else parts.push(...decodePart(block, at, role));
  }
  // In one turn, templates support either results or user text. Results come first: they answer the previous turn.
  return parts.length === 0 && results.length > 0 ? results : [...results, { role, content: joinedParts(parts) }];
}

interface Placed {
  readonly block: MessagesBlock;
  readonly path: string;
}

/** Blocks of an answer that only Anthropic's service can read, and the calls of its server tools with their results. */
const IGNORED = /^(?:redacted_thinking|(?:server|mcp)_tool_use|\w+_tool_result)$/;

function decodeAssistant(blocks: readonly Placed[], inputs: CallArguments): ChatMessage {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: ToolCall[] = [];
  for (const { block, path } of blocks) {
    if (block.type === "text") texts.push(needText(block.text, `${path}.text`));
    else if (block.type === "thinking") thoughts.push(needText(block.thinking, `${path}.thinking`));
    else if (block.type === "tool_use") {
      const [id, name] = [needText(block.id, `${path}.id`), needText(block.name, `${path}.name`)];
      calls.push({ id, name, arguments: inputs.object(block.input) });
    } else if (!IGNORED.test(block.type)) throw unknownBlock(path);
  }
  return {
    role: "assistant",
    content: texts.join("\n"),
    ...(thoughts.length > 0 && { reasoning: thoughts.join("\n") }),
    ...(calls.length > 0 && { toolCalls: calls }),
  };
}

function decodeResult(block: MessagesBlock, path: string, describe: DescribeTool): ChatMessage {
  const toolCallId = needText(block.tool_use_id, `${path}.tool_use_id`);
  const content = decodeResultContent(block.content, `${path}.content`, describe);
  return { role: "tool", toolCallId, content: block.is_error === true ? failed(content) : content };
}

const failed = (content: ChatMessage["content"]): ChatMessage["content"] =>
  typeof content === "string" ? `Error: ${content}` : [{ type: "text", text: "Error:" }, ...content];

function decodeResultContent(
  content: MessagesBlock["content"],
  path: string,
  describe: DescribeTool,
): ChatMessage["content"] {
  if (content == null || typeof content === "string") return content ?? "";
  if (!Array.isArray(content))
    throw fieldError("invalid_type", path, `must be a string or an array of blocks; got ${received(content)}`);
  return joinedParts(
    content.flatMap((block, index) => {
      const at = `${path}.${index}`;
      return block.type === "tool_reference"
        ? [describe(needText(block.tool_name, `${at}.tool_name`))]
        : decodePart(block, at, "user");
    }),
  );
}

/** Decodes the text of a user or system turn, its images, documents and search results. */
function decodePart(block: MessagesBlock, path: string, role: string): ContentPart[] {
  if (block.type === "text") return [{ type: "text", text: needText(block.text, `${path}.text`) }];
  if (block.type === "image" && role === "user") return [decodeImage(block, path)];
  if (block.type === "document" && role === "user") return decodeDocument(block, path);
  if (block.type === "search_result" && role === "user") return [decodeSearchResult(block, path)];
  throw unknownBlock(path);
}

/** Returns the texts of a search result below its title and source. */
function decodeSearchResult({ source, title, content }: MessagesBlock, path: string): ContentPart {
  const origin = typeof source === "string" ? source : undefined;
  const texts = Array.isArray(content)
    ? content.map(({ text }, index) => needText(text, `${path}.content.${index}.text`))
    : [needText(content, `${path}.content`)];
  return { type: "text", text: [title, origin, ...texts].filter((line) => line != null && line !== "").join("\n") };
}

function decodeImage({ source: given }: MessagesBlock, path: string): ContentPart {
  const source = typeof given === "string" ? undefined : given;
  const param = `${path}.source`;
  if (source?.type === "url") return imagePart(needText(source.url, `${param}.url`), `${param}.url`);
  if (source?.type === "base64") {
    const data = needText(source.data, `${param}.data`);
    return imagePart(`data:${source.media_type ?? "image/png"};base64,${data}`, `${param}.data`);
  }
  throw fieldError("invalid_value", param, "must be of type base64 or url");
}

/** Returns a document below its title and context. */
function decodeDocument({ source, title, context }: MessagesBlock, path: string): ContentPart[] {
  const heading = [title, context].filter((line) => line != null && line !== "").join("\n");
  const about: ContentPart[] = heading === "" ? [] : [{ type: "text", text: heading }];
  return [...about, documentOf(source, `${path}.source`)];
}

function documentOf(given: MessagesBlock["source"], param: string): ContentPart {
  const source = typeof given === "string" ? undefined : given;
  if (source?.type === "text") return { type: "text", text: needText(source.data, `${param}.data`) };
  if (source?.type === "url") return documentPart(needText(source.url, `${param}.url`), `${param}.url`);
  if (source?.type === "base64") {
    return documentPart(`data:;base64,${needText(source.data, `${param}.data`)}`, `${param}.data`);
  }
  const message = `'${param}': only documents of type text, base64 or url are supported.`;
  throw new SvcError("unsupported_parameter", message, { param });
}

function unknownBlock(path: string): SvcError {
  return fieldError("invalid_value", `${path}.type`, "is unknown, or not allowed for this role");
}
