// A conversation as a tree of turns: an edit or regenerated answer is a sibling; the page shows the path to one leaf.

export interface Attachment {
  readonly kind: "image" | "audio" | "text";
  readonly name: string;
  /** A data URL; for `text`, the text itself. */
  readonly data: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model generated it. */
  readonly arguments: string;
}

/** Token counts and times of an answer. */
export interface Stats {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly firstTokenMs?: number;
  readonly tokensPerSecond?: number;
}

export interface Turn {
  readonly id: string;
  /** The preceding turn; null for the first one. */
  readonly parent: string | null;
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly attachments?: readonly Attachment[];
  readonly model?: string;
  readonly reasoning?: string;
  /** Milliseconds that the reasoning took. */
  readonly reasoningMs?: number;
  readonly toolCalls?: readonly ToolCall[];
  /** The call that a tool's result belongs to. */
  readonly toolCallId?: string;
  /** Data URLs of generated images. */
  readonly images?: readonly string[];
  /** Texts that the server read from pictures and sound for a model that does not take them. */
  readonly readInputs?: readonly string[];
  /** The names of the files with these texts, in the same order; absent in older answers. */
  readonly readNames?: readonly string[];
  readonly stats?: Stats;
  /** Finish reason of the API, or `stopped` by the user. Absent while the answer is being generated. */
  readonly finish?: string;
  readonly error?: string;
}

/** Settings of a conversation; the server decides what is absent. */
export interface Settings {
  readonly system?: string;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly min_p?: number;
  readonly max_tokens?: number;
  readonly seed?: number;
  /** Size of images: WIDTHxHEIGHT in pixels. */
  readonly size?: string;
  readonly reasoning_effort?: string;
  /** JSON text: functions that the model may call. */
  readonly tools?: string;
}

export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When the user last changed the title or the settings; absent when that never happened. */
  readonly editedAt?: number;
  readonly turns: Readonly<Record<string, Turn>>;
  /** The last turn of the shown path. */
  readonly leaf: string | null;
  readonly settings: Settings;
}

export const newConversation = (id: string, now: number, settings: Settings = {}): Conversation => ({
  id,
  title: "",
  createdAt: now,
  updatedAt: now,
  turns: {},
  leaf: null,
  settings,
});

/** Returns the turns from the first one to `id`, by default to the shown leaf. */
export function pathOf(conversation: Conversation, id: string | null = conversation.leaf): Turn[] {
  const path: Turn[] = [];
  for (let turn = id === null ? undefined : conversation.turns[id]; turn;) {
    path.unshift(turn);
    turn = turn.parent === null ? undefined : conversation.turns[turn.parent];
  }
  return path;
}

/** Returns the turn and its siblings, oldest first. */
export const siblingsOf = ({ turns }: Conversation, { parent }: Turn): Turn[] =>
  Object.values(turns)
    .filter((turn) => turn.parent === parent)
    .toSorted((a, b) => a.createdAt - b.createdAt);

/** Returns a conversation merged with another version of it, which another tab has stored. */
export function mergedWith(conversation: Conversation, other: Conversation): Conversation {
  const { title, settings, editedAt = 0, updatedAt } = other;
  // Another tab's answer may have been complete since this tab last read it.
  const turns = Object.values(conversation.turns).filter(
    ({ id, finish }) => finish !== undefined || other.turns[id]?.finish === undefined,
  );
  return {
    ...conversation,
    ...(editedAt > (conversation.editedAt ?? 0) && { title, settings, editedAt }),
    updatedAt: Math.max(conversation.updatedAt, updatedAt),
    turns: { ...other.turns, ...Object.fromEntries(turns.map((turn) => [turn.id, turn])) },
  };
}

/** Changes the title or the settings at the time `now`. */
export const edited = (
  conversation: Conversation,
  change: Partial<Pick<Conversation, "title" | "settings">>,
  now: number,
): Conversation => ({ ...conversation, ...change, editedAt: now });

/** Adds a turn and shows it. The first turn names the conversation. */
export function addTurn(conversation: Conversation, turn: Turn): Conversation {
  return {
    ...conversation,
    title: conversation.title || titleOf(turn),
    updatedAt: turn.createdAt,
    turns: { ...conversation.turns, [turn.id]: turn },
    leaf: turn.id,
  };
}

/** Changes a turn; returns the conversation unchanged when there is no such turn. */
export function changeTurn(conversation: Conversation, id: string, change: Partial<Turn>): Conversation {
  const turn = conversation.turns[id];
  if (!turn) return conversation;
  return { ...conversation, turns: { ...conversation.turns, [id]: { ...turn, ...change } } };
}

/** Shows the branch through this turn to its end; at forks, the newest turn. */
export function showBranch(conversation: Conversation, id: string): Conversation {
  const turns = Object.values(conversation.turns);
  let leaf = id;
  for (;;) {
    const next = turns.filter(({ parent }) => parent === leaf).toSorted((a, b) => b.createdAt - a.createdAt)[0];
    if (!next) return { ...conversation, leaf };
    leaf = next.id;
  }
}

/** Returns a new conversation that begins with all turns up to this one. */
export function fork(conversation: Conversation, id: string, newId: string, now: number): Conversation {
  const path = pathOf(conversation, id);
  return {
    ...conversation,
    id: newId,
    title: conversation.title === "" ? "" : `${conversation.title} (branch)`,
    createdAt: now,
    updatedAt: now,
    turns: Object.fromEntries(path.map((turn) => [turn.id, turn])),
    leaf: id,
  };
}

const LONGEST_TITLE = 60;

/** Returns a title for a conversation that begins with this turn. */
export function titleOf({ text, attachments = [] }: Pick<Turn, "text" | "attachments">): string {
  const line = text.trim().replaceAll(/\s+/g, " ") || (attachments[0]?.name ?? "");
  if (line.length <= LONGEST_TITLE) return line;
  const cut = line.slice(0, Math.max(line.slice(0, LONGEST_TITLE).lastIndexOf(" "), LONGEST_TITLE / 2));
  return `${cut.replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Returns the number of characters of all files and pictures. */
export const mediaLength = ({ turns }: Conversation): number =>
  Object.values(turns)
    .flatMap(({ attachments = [], images = [] }) => [...attachments.map(({ data }) => data), ...images])
    .reduce((sum, { length }) => sum + length, 0);

/** Returns the tokens of context that the shown turns took, as of the last answer; undefined when unknown. */
export function contextUsed(path: readonly Turn[]): number | undefined {
  const stats = path.findLast((turn) => turn.stats)?.stats;
  return stats && stats.promptTokens + stats.completionTokens;
}
