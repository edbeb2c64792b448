// Decodes input items of the Responses API into a conversation.

import { MOST_LANGUAGES } from "../../contract/recognition.ts";
import type { InputItem as Item, ResponsesPrompt } from "../../contract/responses.ts";
import { received } from "../../contract/schema.ts";
import { fieldError, invalidValue, missing, SvcError } from "../../domain/errors.ts";
import { textOf, type ChatMessage, type ContentPart, type ToolCall } from "../../domain/generate.ts";
import { documentPart, fileParts, imagePart } from "../fields/file-parts.ts";
import { CallArguments } from "../fields/json-object.ts";
import { needText } from "../fields/need-text.ts";
import { summaryOf } from "./compact.ts";
import { flatName } from "./functions.ts";

/** Returns the stored item that an `item_reference` points to; undefined when it is no longer stored. */
export type FindItem = (id: string) => Item | undefined;

/**
 * Decodes items, leaving out those of vendor tools. Throws SvcError about an item of unknown type or one that lacks a
 * field of its type. `path`: the field that holds the items.
 */
export function decodeInput(input: ResponsesPrompt["input"], findItem: FindItem, path = "input"): ChatMessage[] {
  if (input == null) return [];
  if (typeof input === "string") return [{ role: "user", content: input }];
  const turns = new Turns(path);
  const refer = references(findItem);
  for (const [index, item] of input.entries()) decodeItem(item, `${path}.${index}`, turns, refer);
  return turns.finish();
}

/** Returns the item with an id; undefined when it was returned before. Throws SvcError `not_found`. */
type Refer = (id: string, param: string) => Item | undefined;

/** Returns each item once: many short references to a long item could make a prompt that fits no memory. */
function references(findItem: FindItem): Refer {
  const seen = new Set<string>();
  return (id, param) => {
    if (seen.has(id)) return undefined;
    seen.add(id);
    const item = findItem(id);
    if (item) return item;
    throw fieldError("not_found", param, "names an item that is not stored here");
  };
}

function decodeItem(item: Item, path: string, turns: Turns, refer: Refer): void {
  switch (typeOf(item)) {
    case "message":
      return turns.add(decodeMessage(item, path));
    case "agent_message": {
      const message = decodeMessage({ ...item, role: "user" }, path);
      if (message.content !== "") turns.add(message);
      return;
    }
    case "function_call": {
      const text = needText(item.arguments ?? "", `${path}.arguments`);
      return turns.call({ ...calledTool(item, path), arguments: turns.texts.json(text) });
    }
    case "custom_tool_call": {
      const input = needText(item.input, `${path}.input`);
      return turns.call({ ...calledTool(item, path), arguments: turns.texts.object({ input }) });
    }
    case "function_call_output":
    case "custom_tool_call_output":
      return turns.add({
        role: "tool",
        ...answeredCall(item, path),
        content: decodeContent(item.output ?? "", `${path}.output`, "tool"),
      });
    case "reasoning":
      return turns.think(thoughtsOf(item));
    case "compaction":
      return turns.add({
        role: "user",
        content: summaryOf(item.encrypted_content, `${path}.encrypted_content`),
      });
    case "item_reference": {
      const param = `${path}.id`;
      const referred = refer(needText(item.id, param), param);
      if (referred) decodeItem(referred, path, turns, refer);
      return;
    }
    case undefined: {
      throw missing(`${path}.type`, "a string");
    }
    default:
      if (isSkipped(typeOf(item) ?? "")) return;
      throw new SvcError("invalid_value", `'${path}.type' is not a known item type.`, {
        param: `${path}.type`,
      });
  }
}

/** Items of OpenAI's clients and Codex that are neither a call nor its result. */
const SKIPPED: ReadonlySet<string> = new Set([
  "additional_tools",
  "compaction_summary",
  "compaction_trigger",
  "configuration_update",
  "context_compaction",
  "ghost_snapshot",
  "mcp_approval_request",
  "mcp_approval_response",
  "mcp_list_tools",
  "other",
  "program",
]);

/** Returns whether an item is of a vendor tool or of a client alone; svc skips it. The pattern covers future tools. */
const isSkipped = (type: string): boolean => SKIPPED.has(type) || /^[a-z_]+_(call|output)$/.test(type);

/** Returns the type of an item, inferred if absent. */
export function typeOf({ type, role, id }: Item): string | undefined {
  if (type != null) return type;
  if (role != null) return "message";
  return id == null ? undefined : "item_reference";
}

/** A turn to which more calls may be added. */
type OpenTurn = Omit<ChatMessage, "toolCalls"> & { toolCalls?: ToolCall[] };

/** Joins the reasoning, text and calls of one assistant turn. */
class Turns {
  readonly texts: CallArguments;
  private readonly messages: OpenTurn[] = [];
  private thoughts: string[] = [];

  constructor(path: string) {
    this.texts = new CallArguments(path);
  }

  /** Adds `message`; the caller must not use it afterwards. */
  add(message: OpenTurn): void {
    if (message.role === "assistant") this.messages.push(this.withThoughts(message));
    else {
      this.thoughts = [];
      this.messages.push(message);
    }
  }

  call(call: ToolCall): void {
    const last = this.messages.at(-1);
    if (last?.role === "assistant" && this.thoughts.length === 0) (last.toolCalls ??= []).push(call);
    else this.messages.push(this.withThoughts({ role: "assistant", content: "", toolCalls: [call] }));
  }

  /** Adds reasoning to that of the items just before. */
  think(thoughts: string): void {
    if (thoughts !== "") this.thoughts.push(thoughts);
  }

  finish(): ChatMessage[] {
    return this.messages;
  }

  private withThoughts(message: OpenTurn): OpenTurn {
    const { thoughts } = this;
    this.thoughts = [];
    return thoughts.length === 0 ? message : { ...message, reasoning: thoughts.join("\n") };
  }
}

/** Returns the reasoning itself, or its summary when the item has only that. */
function thoughtsOf({ content, summary }: Item): string {
  const parts: readonly (Part | null)[] = Array.isArray(content) ? content : [];
  const texts = parts.flatMap((part) => (typeof part?.text === "string" ? [part.text] : []));
  return texts.join("\n") || (summary ?? []).map(({ text }) => text ?? "").join("\n");
}

function decodeMessage({ role, content }: Item, path: string): OpenTurn {
  const known = role ?? "user";
  const turn = known === "developer" ? "system" : known;
  if (content == null) {
    throw missing(`${path}.content`, "a string or an array of parts");
  }
  return { role: turn, content: decodeContent(content, `${path}.content`, turn) };
}

function calledTool({ call_id, namespace, name }: Item, path: string): Pick<ToolCall, "id" | "name"> {
  const id = needText(call_id, `${path}.call_id`);
  return { id, name: flatName({ namespace, name: needText(name, `${path}.name`) }) };
}

/** Returns the call that a result answers: by its id, or by its tool alone. */
function answeredCall({ call_id: id, namespace, name }: Item, path: string): Pick<ChatMessage, "toolCallId" | "name"> {
  if (id == null && name != null) return { name: flatName({ namespace, name }) };
  return { toolCallId: needText(id, `${path}.call_id`) };
}

function decodeContent(content: unknown, path: string, role: ChatMessage["role"]): ChatMessage["content"] {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) {
    throw fieldError("invalid_type", path, `must be a string or an array of parts; got ${received(content)}`);
  }
  const parts = content.flatMap((part, index) => decodePart(part, `${path}.${index}`));
  const media = parts.some(({ type }) => type === "media");
  if (media && role !== "user" && role !== "tool") {
    throw fieldError("invalid_value", path, "must have text alone in a message of this role");
  }
  return media ? parts : textOf(parts);
}

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly refusal?: unknown;
  readonly image_url?: unknown;
  readonly detail?: unknown;
  readonly languages?: unknown;
  readonly file_data?: unknown;
  readonly file_url?: unknown;
  readonly filename?: unknown;
  readonly input_audio?: { readonly data?: unknown; readonly format?: unknown; readonly language?: unknown };
  readonly audio_url?: unknown;
}

function decodePart(value: unknown, path: string): ContentPart[] {
  if (typeof value !== "object" || value === null) {
    throw fieldError("invalid_type", path, `must be a part with a type; got ${received(value)}`);
  }
  const part = value as Part;
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
    case "summary_text":
      return [{ type: "text", text: needText(part.text, `${path}.text`) }];
    case "refusal":
      return [{ type: "text", text: needText(part.refusal, `${path}.refusal`) }];
    case "input_image": {
      const param = `${path}.image_url`;
      const url = needText(part.image_url, param);
      const { detail: named } = part;
      const detail = named === "original" ? "high" : named === "low" || named === "high" ? named : "auto";
      const written = part.languages == null ? {} : { languages: tags(part.languages, `${path}.languages`) };
      return [imagePart(url, param, { detail, ...written })];
    }
    case "input_audio": {
      const { data, format, language } = part.input_audio ?? {};
      const [sound, field] = part.audio_url == null ? [data, "input_audio.data"] : [part.audio_url, "audio_url"];
      const param = `${path}.${field}`;
      const named = {
        ...(format != null && { format: needText(format, `${path}.input_audio.format`) }),
        ...(language != null && { language: needText(language, `${path}.input_audio.language`) }),
      };
      return [{ type: "media", source: { kind: "audio", data: needText(sound, param), ...named }, param }];
    }
    case "input_file": {
      if (part.file_url == null) {
        const param = `${path}.file_data`;
        const data = needText(part.file_data, param, "a data: URL, as files are not taken by id");
        return fileParts(data, part.filename, param);
      }
      const param = `${path}.file_url`;
      return [documentPart(needText(part.file_url, param), param)];
    }
    case "encrypted_content":
      return [];
    default: {
      throw fieldError("invalid_value", `${path}.type`, "is not a known part type");
    }
  }
}

function tags(value: unknown, param: string): readonly string[] {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MOST_LANGUAGES;
  if (isList && value.every((tag) => typeof tag === "string" && tag !== "")) return value;
  throw invalidValue(param, `be 1 to ${MOST_LANGUAGES} language tags`, received(value));
}
