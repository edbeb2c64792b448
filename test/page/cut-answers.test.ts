import { beforeEach, expect, test } from "bun:test";
import { changeTurn, type Turn } from "../../src/page/logic/conversation.ts";
import { Kept } from "../../src/page/state/kept.ts";
import { Session } from "../../src/page/state/session.ts";
import { askIn, EndlessApi } from "./endless-api.ts";
import { MemoryHistory, storedIn } from "./memory-history.ts";

const ANSWERS = "svc.answers";

let history: MemoryHistory;
let tab: Kept;
let session: Session;
beforeEach(async () => {
  history = new MemoryHistory();
  tab = new Kept("sessionStorage");
  session = new Session(new EndlessApi(), undefined, tab);
  await session.chats.use(history);
  await session.loadModels();
});

const ask = () => askIn(session);
const settled = () => storedIn(history);

async function stopAll(): Promise<void> {
  for (const { abort } of session.runs.value.values()) abort.abort();
  await settled();
}

/** Keeps the answers as in a tab that is gone before anything more is stored. */
async function cut(): Promise<void> {
  await settled();
  const { put } = history;
  history.put = () => new Promise(() => {});
  session.keepAnswers();
  history.put = put;
}

/** Changes what is stored of a chat's last turn. */
function change(id: string, turn: Partial<Turn>): void {
  const chat = history.conversations.get(id);
  if (chat) history.conversations.set(id, changeTurn(chat, chat.leaf ?? "", turn));
}

/** Loads the page in a tab that has what was kept. */
async function reload(kept: string | null): Promise<void> {
  const copy = new Kept("sessionStorage");
  copy.set(ANSWERS, kept ?? "");
  const after = new Session(new EndlessApi(), undefined, copy);
  await after.chats.use(history);
  await after.restoreAnswers();
  expect(copy.get(ANSWERS)).toBe("[]");
}

test("a tab that is hidden stores all answers so far", async () => {
  const ids = [await ask(), await ask()];
  await settled();
  const answers = () =>
    ids.map((id) => Object.values(history.conversations.get(id)?.turns ?? {}).map(({ text }) => text));
  expect(answers()).toEqual([
    ["Hi", ""],
    ["Hi", ""],
  ]);
  session.keepAnswers();
  await settled();
  expect(answers()).toEqual([
    ["Hi", "Hello"],
    ["Hi", "Hello"],
  ]);
  await stopAll();
});

test("a tab that is reloaded restores its answers, except those that went on or were deleted", async () => {
  const [cutShort, complete, further, deleted] = [await ask(), await ask(), await ask(), await ask()];
  await cut();
  const kept = tab.get(ANSWERS);
  session.runs.value.get(complete)?.abort.abort();
  await settled();
  await session.remove(deleted);
  change(further, { text: "Hello, world" });
  await reload(kept);
  const answers = [...history.conversations].map(([id, { leaf, turns }]) => [id, turns[leaf ?? ""]]);
  expect(Object.fromEntries(answers)).toMatchObject({
    [cutShort]: { text: "Hello" },
    [complete]: { text: "Hello", finish: "stopped" },
    [further]: { text: "Hello, world" },
  });
  expect(answers.length).toBe(3);
  await stopAll();
});

const call = (given: string) => ({ toolCalls: [{ id: "call_1", name: "weather", arguments: given }] });

test.each<[string, Partial<Turn>, Partial<Turn>, boolean]>([
  ["a longer call of a tool", call("{"), call('{"a":1'), true],
  ["a shorter one", call('{"a":1'), call("{"), false],
  ["an image", {}, { images: ["data:new"] }, true],
  ["an older image", { images: ["data:newer"] }, { images: ["data:old"] }, false],
  ["how it ended", { text: "Hello" }, { text: "Hello", finish: "length" }, true],
  ["nothing more", { text: "Hello" }, { text: "Hello" }, false],
])("a reload stores what was kept of an answer only where that is more: %s", async (_, stored, kept, isMore) => {
  const id = await ask();
  const { leaf } = session.conversation.value;
  await settled();
  change(id, stored);
  const before = history.conversations.get(id);
  await reload(JSON.stringify([[id, leaf, { text: "", ...kept }]]));
  const after = history.conversations.get(id);
  if (isMore) expect(after?.turns[leaf ?? ""]).toMatchObject(kept);
  else expect(after).toBe(before);
  await stopAll();
});

test("what is kept of an answer is gone with its chat, or once the answer is complete", async () => {
  const [deleted, deletedElsewhere, complete] = [await ask(), await ask(), await ask()];
  await cut();
  const chats = () => (JSON.parse(tab.get(ANSWERS) ?? "") as [string][]).map(([id]) => id);
  expect(chats()).toEqual([deleted, deletedElsewhere, complete]);
  await session.remove(deleted);
  expect(chats()).toEqual([deletedElsewhere, complete]);
  await session.changedElsewhere({ id: deletedElsewhere });
  expect(chats()).toEqual([complete]);
  await stopAll();
  expect(chats()).toEqual([]);
});

test("what is kept of an answer stays if a reload ends it before it is stored", async () => {
  const id = await ask();
  await settled();
  const { put } = history;
  history.put = () => new Promise(() => {});
  session.keepAnswers();
  session.stop();
  while (session.run) await Bun.sleep(1);
  await Bun.sleep(5);
  expect(tab.get(ANSWERS)).toContain(id);
  history.put = put;
});

test("where no chats are stored, no answers are", async () => {
  session = new Session(new EndlessApi(), undefined, tab);
  await session.loadModels();
  await ask();
  session.keepAnswers();
  expect(tab.get(ANSWERS)).toBeNull();
  await stopAll();
});
