import { expect, test } from "bun:test";
import { addTurn, newConversation } from "../../src/page/logic/conversation.ts";
import { Drafts } from "../../src/page/state/drafts.ts";
import { Kept } from "../../src/page/state/kept.ts";

const talk = (id: string) =>
  addTurn(newConversation(id, 0), { id: "1", parent: null, role: "user", text: "Hi", createdAt: 1 });

test("each chat has its own draft, with files, and new chats share one until it is sent", () => {
  const drafts = new Drafts();
  const file = { kind: "text", name: "a.txt", data: "a" } as const;
  drafts.change(talk("a"), () => ({ text: "half" }));
  drafts.change(talk("a"), ({ attachments }) => ({ attachments: [...attachments, file] }));
  drafts.change(newConversation("b", 0), () => ({ text: "new" }));
  expect(drafts.of(talk("a"))).toEqual({ text: "half", attachments: [file] });
  expect(drafts.of(talk("c")).text).toBe("");
  expect(drafts.of(newConversation("d", 0)).text).toBe("new");
  drafts.drop(newConversation("d", 0));
  expect(drafts.of(newConversation("b", 0)).text).toBe("");
});

test("the texts are there after a reload, also when the files beside them are not", () => {
  const kept = new Kept("sessionStorage");
  const before = new Drafts(kept);
  const file = { kind: "text", name: "a.txt", data: "a" } as const;
  before.change(talk("a"), () => ({ text: "half", attachments: [file] }));
  before.change(newConversation("b", 0), () => ({ text: "new" }));
  before.drop(newConversation("b", 0));
  const after = new Drafts(kept);
  expect(after.of(talk("a"))).toEqual({ text: "half", attachments: [] });
  expect(after.of(newConversation("c", 0)).text).toBe("");
  after.forget("a");
  expect(new Drafts(kept).of(talk("a")).text).toBe("");
});
