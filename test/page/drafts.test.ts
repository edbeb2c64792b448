import { expect, test } from "bun:test";
import { addTurn, newConversation } from "../../src/page/logic/conversation.ts";
import { Drafts } from "../../src/page/state/drafts.ts";

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
