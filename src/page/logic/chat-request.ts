// Converts a conversation to the body of POST /v1/chat/completions.

import type { ChatCompletionRequest } from "../../contract/chat.ts";
import type { Attachment, Settings, Turn } from "./conversation.ts";
import type { Model } from "./models.ts";

type Message = ChatCompletionRequest["messages"][number];
type Parts = Exclude<Message["content"], string | null | undefined>;

/** Maximum number of images, sounds and documents in a request. */
const MOST_MEDIA = 32;
/** Maximum number of their characters; a request may have 100 MiB in all. */
const MOST_CHARACTERS = 95_000_000;
/** How many are left out together: a cached prompt is of use only up to its first change. */
const LEFT_OUT = 8;

/** Returns the request for the turn that follows `path`. Throws Error about the tools. */
export function chatRequest(
  path: readonly Turn[],
  settings: Settings,
  { id, reports }: Pick<Model, "id" | "reports">,
): ChatCompletionRequest {
  const { system, tools, reasoning_effort, size: _ofImages, ...sampling } = settings;
  const given = system?.trim() ? [{ role: "system", content: system } as const] : [];
  const sent = sentMedia(path);
  return {
    model: id,
    messages: [...given, ...joined(path.flatMap((turn, at) => messageOf(turn, path[at + 1]?.role === "tool", sent)))],
    stream: true,
    ...(reports && { timings_per_token: true, return_progress: true }),
    ...sampling,
    ...(reasoning_effort && { reasoning_effort: reasoning_effort as "low" }),
    ...(tools?.trim() && { tools: readTools(tools) }),
  };
}

/** The names of files that a request has for the first time, by the part that has the file: `messages.0.content.1`. */
export type NewMedia = ReadonlyMap<string, string>;

/** Returns the files that are new in the request for the turn that follows `path`. */
export function newMedia({ messages }: Pick<ChatCompletionRequest, "messages">, path: readonly Turn[]): NewMedia {
  const last = path.at(-1)?.role === "user" ? messages.length - 1 : -1;
  const content = messages[last]?.content;
  const parts = Array.isArray(content) ? [...content.entries()].filter(([, { type }]) => type !== "text") : [];
  // The parts of all messages are in the order of the files in all turns.
  const names = mediaOf(path).slice(-parts.length);
  return new Map(parts.map(([index], at) => [`messages.${last}.content.${index}`, names[at]?.name ?? ""]));
}

/**
 * Parses a list of tools; each is a function, alone or in `{"type": "function", "function": …}`. Throws Error with a
 * message for the user when it is none.
 */
export function readTools(text: string): NonNullable<ChatCompletionRequest["tools"]> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("The tools are not JSON.");
  }
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((one) => {
    const tool = isObject(one) && "function" in one ? one : { type: "function", function: one };
    if (isObject(tool.function) && typeof tool.function["name"] === "string") return tool;
    throw new Error("Each tool must be an object with a name.");
  }) as NonNullable<ChatCompletionRequest["tools"]>;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Returns the newest media, as many as fit into a request. Those of the last message are never left out in silence. */
function sentMedia(path: readonly Turn[]): ReadonlySet<Attachment> {
  const all = mediaOf(path);
  const last = path.findLastIndex(({ role }) => role === "user");
  const own = mediaOf(path.slice(Math.max(last, 0))).length;
  let room = MOST_CHARACTERS;
  const tooLong = all.findLastIndex(({ data }) => (room -= data.length) < 0) + 1;
  const tooMany = Math.ceil((all.length - MOST_MEDIA) / LEFT_OUT) * LEFT_OUT;
  return new Set(all.slice(Math.min(Math.max(tooLong, tooMany), all.length - own)));
}

const mediaOf = (path: readonly Turn[]): Attachment[] =>
  path.flatMap(({ attachments = [] }) => attachments.filter(isMedia));

/**
 * `isAnswered`: whether results follow the turn; models cannot go on after calls without results, so those are left out.
 * `sent`: the media that are sent; others are only named.
 */
function messageOf(
  { role, text, attachments = [], toolCalls, toolCallId }: Turn,
  isAnswered: boolean,
  sent: ReadonlySet<Attachment>,
): Message[] {
  if (role === "tool") return [{ role, content: text, ...(toolCallId !== undefined && { tool_call_id: toolCallId }) }];
  if (role === "user") return [{ role, content: attachments.length > 0 ? partsOf(text, attachments, sent) : text }];
  const calls = (isAnswered ? (toolCalls ?? []) : []).map(({ id, name, arguments: given }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: given },
  }));
  // An answer that failed before its first word, or is an image, has no text to send.
  if (text === "" && calls.length === 0) return [];
  return [{ role, content: text, ...(calls.length > 0 && { tool_calls: calls }) }];
}

/** Joins successive messages of the user, since the templates of some models refuse them. */
function joined(messages: readonly Message[]): Message[] {
  const all: Message[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (last?.role !== "user" || message.role !== "user") all.push(message);
    else all[all.length - 1] = { role: "user", content: joinedContent(last.content, message.content) };
  }
  return all;
}

function joinedContent(first: Message["content"], second: Message["content"]): string | Parts {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  return [first, second].flatMap((content) =>
    typeof content === "string" ? [{ type: "text" as const, text: content }] : (content ?? []),
  );
}

function partsOf(text: string, attachments: readonly Attachment[], sent: ReadonlySet<Attachment>): Parts {
  const media = attachments.filter(isMedia).map((one) => (sent.has(one) ? mediaPart(one) : unsentPart(one)));
  const files = attachments
    .filter(({ kind }) => kind === "text")
    .map(({ name, data }) => `${name}:\n\n${fenced(data)}`);
  const written = [...files, text].filter((part) => part.trim() !== "").join("\n\n");
  return [...media, ...(written === "" && media.length > 0 ? [] : [{ type: "text" as const, text: written }])];
}

const isMedia = ({ kind }: Attachment): boolean => kind !== "text";

function mediaPart({ kind, name, data }: Attachment): Parts[number] {
  if (isPdf(data)) return { type: "file", file: { file_data: data, filename: name } };
  if (kind === "image") return { type: "image_url", image_url: { url: data } };
  return { type: "input_audio", input_audio: { data: data.slice(data.indexOf(",") + 1), format: formatOf(data) } };
}

const unsentPart = ({ name }: Attachment): Parts[number] => ({ type: "text", text: `(${name} is no longer shown.)` });

const isPdf = (url: string): boolean => url.startsWith("data:application/pdf");

/** Returns `wav` for `data:audio/x-wav;base64,…`. */
const formatOf = (url: string): string =>
  /^data:\w+\/(?:x-pn-|x-|vnd\.)?(\w+)/.exec(url)?.[1]?.replace("mpeg", "mp3").replace("wave", "wav") ?? "wav";

/** Puts text into a fenced code block, with a fence that does not occur in the text. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}
