import { afterAll, beforeAll, beforeEach, expect, jest, test } from "bun:test";
import { pathOf, type Turn } from "../../src/page/logic/conversation.ts";
import { messagePlace } from "../../src/page/state/drafts.ts";
import { summaryOf } from "../../src/page/state/history.ts";
import { OtherTabs } from "../../src/page/state/other-tabs.ts";
import { Session } from "../../src/page/state/session.ts";
import { askIn, EndlessApi } from "./endless-api.ts";
import { MemoryHistory, storedIn } from "./memory-history.ts";

const { localStorage } = globalThis;
beforeAll(() => {
  const items = new Map<string, string>();
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true });
});
afterAll(() => {
  Object.defineProperty(globalThis, "localStorage", { value: localStorage, configurable: true });
});

let history: MemoryHistory;
let session: Session;
beforeEach(async () => {
  history = new MemoryHistory();
  session = new Session(new EndlessApi());
  await session.chats.use(history);
  await session.loadModels();
});

/** Shows a stored conversation in another tab. */
async function elsewhere(id: string): Promise<Session> {
  const other = new Session(new EndlessApi());
  await other.chats.use(history);
  await other.loadModels();
  await other.show(id);
  return other;
}

const ask = () => askIn(session);
const settled = () => storedIn(history);

test("an answer that is stopped keeps its text so far", async () => {
  const id = await ask();
  session.stop();
  await settled();
  const turns = Object.values(history.conversations.get(id)?.turns ?? {});
  expect(turns.map(({ text, finish }) => [text, finish])).toEqual([
    ["Hi", undefined],
    ["Hello", "stopped"],
  ]);
  expect(session.runs.value.size).toBe(0);
  expect(session.announcement.value).toBe("The answer was stopped.");
});

test.each([
  ["shown", true],
  ["not shown", false],
])("a chat that is deleted during an answer stays deleted: %s", async (_, isShown) => {
  const id = await ask();
  const { conversation, drafts } = session;
  const removed = conversation.value;
  drafts.change(messagePlace(removed), { text: "half" });
  if (!isShown) session.begin();
  await session.remove(id);
  await settled();
  expect(drafts.of(messagePlace(removed)).text).toBe("");
  expect([...history.conversations.keys()]).toEqual([]);
  expect([session.conversation.value.id === id, session.runs.value.size, session.chats.summaries.value]).toEqual([
    false,
    0,
    [],
  ]);
});

test.each([
  ["here", () => session.removeAll()],
  ["in another tab", () => history.clear().then(() => session.changedElsewhere({}))],
])("all chats that are deleted %s during an answer stay deleted", async (_, removeAll) => {
  const first = await ask().then(() => session.conversation.value);
  const { drafts } = session;
  drafts.change(messagePlace(first), { text: "half" });
  session.begin();
  drafts.change(messagePlace(session.conversation.value), { text: "new" });
  const shown = await ask();
  await removeAll();
  await settled();
  expect([drafts.of(messagePlace(first)).text, drafts.of(messagePlace(session.conversation.value)).text]).toEqual([
    "",
    "new",
  ]);
  expect([...history.conversations.keys()]).toEqual([]);
  expect([session.conversation.value.id === shown, session.runs.value.size]).toEqual([false, 0]);
});

test("a chat that another tab continues goes on here, and one that it deletes is gone here, even during an answer", async () => {
  const id = await ask();
  session.stop();
  await settled();
  const other = await elsewhere(id);
  other.send("And now?");
  other.stop();
  await settled();
  await session.changedElsewhere({ id, summary: summaryOf(other.conversation.value) });
  expect(session.conversation.value).toEqual(other.conversation.value);
  other.send("Once more");
  await settled();
  await session.remove(id);
  await other.changedElsewhere({ id });
  await settled();
  expect([other.conversation.value.id === id, other.runs.value.size, history.conversations.size]).toEqual([
    false,
    0,
    0,
  ]);
});

test("another tab knows which answer is being written here, until it is complete", async () => {
  const told: (string | undefined)[] = [];
  const { put } = history;
  history.put = (one, writing?: string) => {
    told.push(writing);
    return put(one);
  };
  const id = await ask();
  const { leaf } = session.conversation.value;
  session.rename("Renamed");
  session.stop();
  await settled();
  expect(told).toEqual([undefined, leaf ?? "", leaf ?? "", undefined]);
  const other = await elsewhere(id);
  await other.changedElsewhere({ summary: summaryOf(session.conversation.value), writing: leaf ?? "" });
  expect([other.otherTabs.isWriting(id, leaf ?? ""), other.otherTabs.isWriting(id, "another")]).toEqual([true, false]);
  await other.changedElsewhere({ summary: summaryOf(session.conversation.value) });
  expect(other.otherTabs.isWriting(id, leaf ?? "")).toBe(false);
});

test("a tab that is silent for longer than a hidden one writes nothing any more", () => {
  jest.useFakeTimers();
  try {
    const tabs = new OtherTabs();
    tabs.note("chat", "turn");
    jest.advanceTimersByTime(60_000);
    expect(tabs.isWriting("chat", "turn")).toBe(true);
    jest.advanceTimersByTime(60_000);
    expect(tabs.isWriting("chat", "turn")).toBe(false);
  } finally {
    jest.useRealTimers();
  }
});

test("a chat that two tabs continue at once keeps both answers, and its name from the one that renamed it", async () => {
  const id = await ask();
  const answer = session.conversation.value.leaf ?? "";
  await settled();
  const other = await elsewhere(id);
  other.rename("Renamed");
  other.send("And now?");
  await settled();
  await session.changedElsewhere({ id, summary: summaryOf(other.conversation.value) });
  expect(session.conversation.value.title).toBe("Renamed");
  session.stop();
  await settled();
  other.stop();
  await settled();
  const stored = history.conversations.get(id);
  expect([stored?.title, stored?.turns[answer]?.finish, stored?.turns[answer]?.text]).toEqual([
    "Renamed",
    "stopped",
    "Hello",
  ]);
});

test("a chat that is read slowly does not replace what was opened after it", async () => {
  const id = await ask();
  session.stop();
  await settled();
  session.begin();
  const reading = session.show(id);
  session.begin();
  const begun = session.conversation.value.id;
  expect(await reading).toBe(true);
  expect(session.conversation.value.id).toBe(begun);
  const unknown = session.show("unknown");
  await session.show(id);
  expect([await unknown, session.conversation.value.id]).toEqual([true, id]);
  expect(await session.show("unknown")).toBe(false);
});

test("a chat that is chosen is shown even when the one before it is deleted while it is read", async () => {
  const first = await ask();
  session.stop();
  const second = await ask();
  session.stop();
  await settled();
  const reading = session.show(first);
  void session.remove(second);
  await reading;
  expect(session.conversation.value.id).toBe(first);
});

test("a branch that is added while another tab's version of the chat is read stays", async () => {
  const id = await ask();
  session.stop();
  await settled();
  const other = await elsewhere(id);
  const { turns, leaf } = session.conversation.value;
  other.rename("Renamed");
  const reading = session.changedElsewhere({ id, summary: summaryOf(other.conversation.value) });
  session.edit(turns[leaf ?? ""] as Turn, "Hello there");
  await reading;
  expect(pathOf(session.conversation.value).map(({ text }) => text)).toEqual(["Hi", "Hello there"]);
  expect(session.conversation.value.title).toBe("Renamed");
});

test.each([
  ["a server that goes on only cancelled it", true, undefined],
  ["a server that is gone was stopped", false, "The server was stopped."],
])("an answer that the server cancelled says why: %s", async (_, isThere, error) => {
  class StoppingApi extends EndlessApi {
    override async fetch(path: string): Promise<Response> {
      if (path === "/v1/models") return super.fetch(path);
      const end = { choices: [{ index: 0, delta: {}, finish_reason: "cancelled" }] };
      return new Response(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
    }
    override isReachable = () => Promise.resolve(isThere);
  }
  const other = new Session(new StoppingApi());
  await other.loadModels();
  other.send("Hi");
  await settled();
  const { turns, leaf } = other.conversation.value;
  expect([turns[leaf ?? ""]?.error, turns[leaf ?? ""]?.finish]).toEqual([error, error ? "error" : "cancelled"]);
});

test("storing a chat updates its entry in the list, without reading the list again", async () => {
  const first = await ask();
  session.stop();
  await settled();
  const second = await ask();
  session.stop();
  await settled();
  session.rename("Renamed");
  await settled();
  expect(session.chats.summaries.value.map(({ id, title }) => [id, title])).toEqual([
    [second, "Renamed"],
    [first, "Hi"],
  ]);
  await session.changedElsewhere({ id: first, summary: { id: first, title: "New", updatedAt: 1e15 } });
  expect(session.chats.summaries.value.map(({ title }) => title)).toEqual(["New", "Renamed"]);
  expect(history.listed).toBe(1);
});

test("without a database, the shown chat is what can be exported", async () => {
  const other = new Session(new EndlessApi());
  await other.loadModels();
  expect([other.chats.areKept, await Array.fromAsync(other.all())]).toEqual([false, []]);
  other.send("Hi");
  expect(await Array.fromAsync(other.all())).toEqual([other.conversation.value]);
  other.stop();
  await settled();
});

test("an edited message has the attachments that were not removed", async () => {
  const attachments = ["a.txt", "b.txt"].map((name) => ({ kind: "text", name, data: name }) as const);
  session.begin();
  session.send("Hi", attachments);
  session.stop();
  await settled();
  const [asked] = Object.values(session.conversation.value.turns);
  if (asked) session.edit(asked, "Hi again", attachments.slice(1));
  session.stop();
  await settled();
  if (asked) session.edit(asked, "Hi once more", []);
  const users = Object.values(session.conversation.value.turns).filter(({ role }) => role === "user");
  expect(users.map((one) => one.attachments?.map(({ name }) => name))).toEqual([
    ["a.txt", "b.txt"],
    ["b.txt"],
    undefined,
  ]);
  session.stop();
  await settled();
});

test("a chat that cannot be stored says so, stays in the list, and is stored once others are deleted", async () => {
  const other = await ask();
  session.stop();
  await settled();
  const { put } = history;
  let isFull = true;
  const full = Object.assign(new Error("quota"), { name: "QuotaExceededError" });
  const id = await ask();
  history.put = (one) => (isFull && one.id === id ? Promise.reject(full) : put(one));
  session.rename("Only here");
  session.stop();
  await settled();
  const why = "The browser has no room for this chat: export it, or delete others.";
  expect(session.chats.whyUnstored(id)).toBe(why);
  await session.show(other);
  session.rename("Stored");
  await settled();
  await session.chats.list();
  expect([session.chats.whyUnstored(id), session.chats.whyUnstored(other)]).toEqual([why, undefined]);
  expect(session.chats.summaries.value.map(({ title }) => title)).toEqual(["Only here", "Stored"]);
  expect((await Array.fromAsync(session.all())).map(({ title }) => title).toSorted()).toEqual(["Only here", "Stored"]);
  await session.show(id);
  expect(pathOf(session.conversation.value).map(({ text }) => text)).toEqual(["Hi", "Hello"]);
  isFull = false;
  await session.remove(other);
  await settled();
  expect([session.chats.whyUnstored(id), history.conversations.get(id)?.title]).toEqual([undefined, "Only here"]);
});

test.each([
  ["a short chat", 10, 5],
  ["a chat with large files", 2_000_000, 0],
])("during ten seconds of an answer, %s of %d characters is stored %d times", async (_, length, times) => {
  session.begin();
  jest.useFakeTimers();
  try {
    session.send("Hi", [{ kind: "text", name: "a.txt", data: "x".repeat(length) }]);
    const { put } = history;
    let count = 0;
    history.put = (one) => {
      count++;
      return put(one);
    };
    jest.advanceTimersByTime(10_000);
    expect(count).toBe(times);
    jest.advanceTimersByTime(10_000);
    expect(count).toBe(times === 0 ? 1 : 10);
  } finally {
    jest.useRealTimers();
  }
  session.stop();
  await settled();
});

test("a chat that cannot be stored is shown in its newest version, also while that is being stored", async () => {
  const { put } = history;
  history.put = (one) => put(one).then(() => Promise.reject(new Error("broken")));
  const id = await ask();
  await settled();
  session.begin();
  session.runs.value.get(id)?.abort.abort();
  while (session.runs.value.has(id)) await Bun.sleep(1);
  await session.show(id);
  expect(pathOf(session.conversation.value).map(({ text, finish }) => [text, finish])).toEqual([
    ["Hi", undefined],
    ["Hello", "stopped"],
  ]);
  expect(session.chats.whyUnstored(id)).toBe("This chat is not stored: broken");
});

test.each([
  ["a chat", (id: string) => session.remove(id)],
  ["all chats", () => session.removeAll().catch((error: Error) => (session.problem.value = error.message))],
])("%s can be deleted in this tab when the database is broken, which is told", async (_, remove) => {
  const broken = () => Promise.reject(new Error("broken"));
  Object.assign(history, { put: broken, remove: broken, clear: broken, list: broken });
  const id = await ask();
  session.stop();
  await settled();
  await remove(id);
  expect([session.chats.whyUnstored(id), session.chats.summaries.value]).toEqual([undefined, []]);
  expect(session.problem.value).toEndWith("broken");
  session.send("Another");
  session.stop();
  expect(session.problem.value).toBe("");
  await settled();
});

test("a chat that cannot be stored is stored once another tab has deleted others", async () => {
  const { put } = history;
  history.put = () => Promise.reject(new Error("no room"));
  const id = await ask();
  session.stop();
  await settled();
  history.put = put;
  await session.changedElsewhere({ id: "another" });
  await settled();
  expect([session.chats.whyUnstored(id), history.conversations.has(id)]).toEqual([undefined, true]);
});

test("a chat that cannot be read says why, and shows no other in its place", async () => {
  const id = await ask();
  session.stop();
  await settled();
  session.begin();
  const { get } = history;
  history.get = () => Promise.reject(new Error("broken"));
  expect(await session.show(id)).toBe(true);
  expect([session.problem.value, session.conversation.value.leaf]).toEqual(["The chat cannot be read: broken", null]);
  history.get = get;
  await session.show(id);
  expect([session.problem.value, session.conversation.value.id]).toEqual(["", id]);
  history.get = () => Promise.reject(new Error("broken"));
  await session.show("another");
  session.send("Hi");
  expect(session.problem.value).toBe("");
  session.stop();
  await settled();
});

test("a message keeps the indentation of its first line, without the blank lines around", async () => {
  session.begin();
  session.send("\n  \n    if x:\n        y\n\n");
  session.stop();
  await settled();
  const [asked] = pathOf(session.conversation.value);
  expect(asked?.text).toBe("    if x:\n        y");
  if (asked) session.edit(asked, "\n  z\n");
  session.stop();
  await settled();
  expect(pathOf(session.conversation.value)[0]?.text).toBe("  z");
});
