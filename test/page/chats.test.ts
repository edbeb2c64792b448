import { beforeEach, expect, test } from "bun:test";
import { newConversation, type Conversation } from "../../src/page/logic/conversation.ts";
import { Chats } from "../../src/page/state/chats.ts";
import { MemoryHistory } from "./memory-history.ts";

let history: MemoryHistory;
let chats: Chats;
beforeEach(async () => {
  history = new MemoryHistory();
  chats = new Chats();
  await chats.use(history);
});

const chat = (id: string): Conversation => ({ ...newConversation(id, 1), title: id });
const titles = () => chats.summaries.value.map(({ title }) => title);

test("an import that fails in the middle lists what it has stored", async () => {
  const { put } = history;
  history.put = (one) => (one.id === "b" ? Promise.reject(new Error("no room")) : put(one));
  await expect(chats.import(["a", "b", "c"].map(chat))).rejects.toThrow("no room");
  expect(titles()).toEqual(["a"]);
});

test("a list that cannot be read says why, until it can", async () => {
  const { list } = history;
  history.list = () => Promise.reject(new Error("broken"));
  chats = new Chats();
  await chats.use(history);
  expect([chats.areKept, chats.trouble.value]).toEqual([true, "The list of chats cannot be read: broken"]);
  history.list = list;
  await chats.list();
  expect(chats.trouble.value).toBe("");
});

test.each([
  ["here", () => chats.remove("a")],
  ["in another tab", () => chats.removedElsewhere("a")],
])("a chat that is deleted %s while storing it fails does not come back", async (_, remove) => {
  await chats.import([chat("b")]);
  const { put } = history;
  history.put = (one) => put(one).then(() => Promise.reject(new Error("broken")));
  const storing = chats.put(chat("a"));
  history.put = put;
  await remove();
  history.conversations.delete("a");
  await storing;
  await chats.list();
  expect([titles(), chats.whyUnstored("a")]).toEqual([["b"], undefined]);
});
