// Exports conversations: as JSON with all branches, which can be imported again, and the shown branch as Markdown.

import { fenced } from "./chat-request.ts";
import { pathOf, type Conversation, type Turn } from "./conversation.ts";

const FORMAT = "svc-conversations";

/** Characters of a file; what is read again has to be one string, which in Chromium ends at 512 million. */
const MOST = 200_000_000;

/**
 * Yields files with all chats, each when it is full: all together may not fit into memory. The next file begins where
 * one would become longer than `most` characters.
 */
export async function* toJson(
  conversations: Iterable<Conversation> | AsyncIterable<Conversation>,
  most = MOST,
): AsyncGenerator<string> {
  let chats: string[] = [];
  let length = 0;
  for await (const one of conversations) {
    const text = JSON.stringify(one, undefined, 2);
    if (length > 0 && length + text.length > most) {
      yield fileOf(chats);
      chats = [];
      length = 0;
    }
    chats.push(text);
    length += text.length;
  }
  yield fileOf(chats);
}

const fileOf = (chats: readonly string[]): string =>
  `{"format": "${FORMAT}", "version": 1, "conversations": [\n${chats.join(",\n")}\n]}\n`;

/** Parses such a file. Throws Error with a message for the user when it is none. */
export function fromJson(text: string): Conversation[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("This file is not JSON.");
  }
  const { format, conversations } = (value ?? {}) as { format?: unknown; conversations?: unknown };
  if (format !== FORMAT || !Array.isArray(conversations) || !conversations.every(isConversation)) {
    throw new Error("This file is not an export of this page.");
  }
  return conversations;
}

function isConversation(value: unknown): value is Conversation {
  const { id, title, createdAt, updatedAt, turns, leaf, settings } = (value ?? {}) as Record<string, unknown>;
  if (typeof turns !== "object" || turns === null) return false;
  const isTree =
    Object.entries(turns).every(([key, turn]) => isTurn(turn) && turn.id === key && isKnown(turn.parent, turns)) &&
    Object.keys(turns).every((key) => isRooted(key, turns as Record<string, Turn>));
  const isNamed = typeof id === "string" && typeof title === "string";
  const isDated = typeof createdAt === "number" && typeof updatedAt === "number";
  return isNamed && isDated && isTree && isKnown(leaf, turns) && typeof settings === "object" && settings !== null;
}

/** Returns whether the chain of parents ends, that is, has no cycle. */
function isRooted(id: string, turns: Readonly<Record<string, Turn>>): boolean {
  const seen = new Set<string>();
  for (let at: string | null = id; at !== null; at = turns[at]?.parent ?? null) {
    if (seen.has(at)) return false;
    seen.add(at);
  }
  return true;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const has =
  (fields: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check =>
  (value) => {
    if (typeof value !== "object" || value === null) return false;
    const given = value as Record<string, unknown>;
    const isAsOptional = Object.entries(optional).every(([name, check]) => given[name] == null || check(given[name]));
    return isAsOptional && Object.entries(fields).every(([name, check]) => check(given[name]));
  };

/** The page shows it and offers it as a download, so an address would lead elsewhere. */
const isPicture: Check = (value) => typeof value === "string" && value.startsWith("data:image/");

const isTurnLike = has(
  {
    id: isText,
    text: isText,
    createdAt: isNumber,
    role: (role) => isText(role) && /^(?:user|assistant|tool)$/.test(String(role)),
  },
  {
    attachments: listOf(has({ kind: isText, name: isText, data: isText })),
    toolCalls: listOf(has({ id: isText, name: isText, arguments: isText })),
    images: listOf(isPicture),
    readInputs: listOf(isText),
    readNames: listOf(isText),
    stats: has(
      { promptTokens: isNumber, cachedTokens: isNumber, completionTokens: isNumber },
      { firstTokenMs: isNumber, tokensPerSecond: isNumber },
    ),
    model: isText,
    reasoning: isText,
    reasoningMs: isNumber,
    toolCallId: isText,
    finish: isText,
    error: isText,
  },
);

const isTurn = (value: unknown): value is Turn => isTurnLike(value);

const isKnown = (id: unknown, turns: object): boolean =>
  id === null || (typeof id === "string" && Object.hasOwn(turns, id));

const SPEAKERS = { user: "You", assistant: "Assistant", tool: "Tool" } as const;

/** Returns the shown branch of a conversation as Markdown. */
export function toMarkdown(conversation: Conversation): string {
  const { title, settings } = conversation;
  const system = settings.system?.trim() ? [`_System prompt:_\n\n${quoted(settings.system.trim())}`] : [];
  return `${[`# ${title || "Conversation"}`, ...system, ...pathOf(conversation).map(turnText)].join("\n\n")}\n`;
}

function turnText({ role, model, text, reasoning, attachments, toolCalls, images, error }: Turn): string {
  const name = model === undefined ? SPEAKERS[role] : `${SPEAKERS[role]} (${model})`;
  return [
    `## ${name}`,
    ...(attachments ?? []).map((one) =>
      one.kind === "text" ? `${one.name}:\n\n${fenced(one.data)}` : `_${one.name}_`,
    ),
    ...(reasoning ? [`_Thinking:_\n\n${quoted(reasoning.trim())}`] : []),
    ...(text ? [role === "tool" ? fenced(text) : text] : []),
    ...(toolCalls ?? []).map((call) => `Calls \`${call.name}\`:\n\n${fenced(call.arguments, "json")}`),
    ...(images ?? []).map((url) => `![](${url})`),
    ...(error ? [`_Error: ${error}_`] : []),
  ].join("\n\n");
}

const quoted = (text: string): string => text.replaceAll(/^/gm, "> ");

/** Returns a file name for a conversation. */
export const fileName = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 50) || "conversation";
