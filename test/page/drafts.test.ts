import { expect, test } from "bun:test";
import { addTurn, newConversation } from "../../src/page/logic/conversation.ts";
import { Drafts, messagePlace, turnPlace } from "../../src/page/state/drafts.ts";
import { Kept } from "../../src/page/state/kept.ts";

const HI = { id: "1", parent: null, role: "user", text: "Hi", createdAt: 1 } as const;
const talk = (id: string) => addTurn(newConversation(id, 0), HI);
const message = (id: string) => messagePlace(talk(id));
const NEW = messagePlace(newConversation("b", 0));
const FILE = { kind: "text", name: "a.txt", data: "a" } as const;

test("each chat has its own draft, with files, and new chats share one until it is sent", () => {
  const drafts = new Drafts();
  drafts.change(message("a"), { text: "half" });
  drafts.change(message("a"), { attachments: [FILE] });
  drafts.change(NEW, { text: "new" });
  expect(drafts.of(message("a"))).toEqual({ text: "half", attachments: [FILE] });
  expect(drafts.of(message("c")).text).toBe("");
  expect(drafts.of(messagePlace(newConversation("d", 0))).text).toBe("new");
  drafts.drop(NEW);
  expect(drafts.of(NEW).text).toBe("");
});

test("the texts are there after a reload, also when the files beside them are not", () => {
  const kept = new Kept("sessionStorage");
  const before = new Drafts(kept);
  before.change(message("a"), { text: "half", attachments: [FILE] });
  before.change(NEW, { text: "new" });
  before.drop(NEW);
  const after = new Drafts(kept);
  expect(after.of(message("a"))).toEqual({ text: "half", attachments: [] });
  expect(after.of(NEW).text).toBe("");
  after.forget("a");
  expect(new Drafts(kept).of(message("a")).text).toBe("");
});

test("what is written in a turn begins with the turn, and is forgotten with its chat", () => {
  const kept = new Kept("sessionStorage");
  const drafts = new Drafts(kept);
  const [edit, result] = [turnPlace(talk("a"), HI), turnPlace(talk("a"), HI, 0)];
  const first = { text: "Hi", attachments: [FILE] };
  expect([drafts.has(edit), drafts.of(edit, first)]).toEqual([false, first]);
  drafts.change(edit, { text: "Hello" });
  drafts.change(result, { text: "mild" });
  drafts.change(turnPlace(talk("ab"), HI), {});
  // The files of the turn are there after a reload.
  expect(new Drafts(kept).of(edit, first)).toEqual({ text: "Hello", attachments: [FILE] });
  drafts.forget("a");
  expect([edit, result, turnPlace(talk("ab"), HI)].map((place) => drafts.has(place))).toEqual([false, false, true]);
});
