import { expect, test } from "bun:test";
import { addTurn, newConversation, type Conversation, type Turn } from "../../src/page/logic/conversation.ts";
import { fileName, fromJson, toJson, toMarkdown } from "../../src/page/logic/export.ts";

const STATS = { promptTokens: 1, cachedTokens: 0, completionTokens: 1 };
const turns: Turn[] = [
  {
    id: "1",
    parent: null,
    role: "user",
    text: "What is it?",
    createdAt: 1,
    attachments: [{ kind: "image", name: "cat.png", data: "data:," }],
  },
  {
    id: "2",
    parent: "1",
    role: "assistant",
    model: "m",
    text: "A cat.",
    reasoning: "Fur,\nears.",
    createdAt: 2,
    stats: STATS,
  },
  {
    id: "3",
    parent: "1",
    role: "assistant",
    model: "m",
    text: "",
    toolCalls: [{ id: "c", name: "look", arguments: "{}" }],
    images: ["data:image/png;base64,AA=="],
    createdAt: 3,
  },
];
const talk = turns.reduce(addTurn, newConversation("c", 0, { system: "Be brief." }));

/** Returns the only file of an export. */
async function exported(all: readonly Conversation[]): Promise<string> {
  const [file = "", ...others] = await Array.fromAsync(toJson(all));
  expect(others).toEqual([]);
  return file;
}

test("an export has all branches, which an import restores", async () => {
  const all = [talk, { ...talk, id: "d" }];
  expect(fromJson(await exported(all))).toEqual(all);
  expect(fromJson(await exported([]))).toEqual([]);
});

test("an export that would be too long to be imported becomes several files", async () => {
  const all = ["a", "b", "c"].map((id) => ({ ...talk, id }));
  const { length } = JSON.stringify(talk, undefined, 2);
  for (const [most, groups] of [
    [length - 1, ["a", "b", "c"]],
    [2 * length, ["ab", "c"]],
    [3 * length, ["abc"]],
  ] as const) {
    const files = (await Array.fromAsync(toJson(all, most))).map((text) => fromJson(text).map(({ id }) => id));
    expect(files.map((ids) => ids.join(""))).toEqual([...groups]);
  }
});

test("an export reads chats only as its files are saved", async () => {
  const read: string[] = [];
  const all = function* () {
    for (const id of ["a", "b", "c"]) {
      read.push(id);
      yield { ...talk, id };
    }
  };
  await toJson(all(), 1).next();
  expect(read).toEqual(["a", "b"]);
});

test("a Markdown export has the turns that are shown", () => {
  expect(toMarkdown({ ...talk, leaf: "2" })).toBe(
    "# What is it?\n\n_System prompt:_\n\n> Be brief.\n\n## You\n\n_cat.png_\n\nWhat is it?\n\n## Assistant (m)\n\n_Thinking:_\n\n> Fur,\n> ears.\n\nA cat.\n",
  );
  expect(toMarkdown(talk)).toContain("Calls `look`:\n\n```json\n{}\n```");
});

test("other files are refused with a message, and circular ones are harmless", async () => {
  const broken = (change: object) => exported([{ ...talk, ...change } as Conversation]);
  const circle = { 1: { ...turns[0], parent: "2" }, 2: turns[1] };
  for (const text of [
    "[]",
    "{}",
    "null",
    '{"format":"svc-conversations","conversations":[{}]}',
    await broken({ leaf: "9" }),
    await broken({ turns: { 1: { ...turns[0], parent: "9" } } }),
    await broken({ turns: { 1: { ...turns[0], attachments: "x" } } }),
    await broken({ turns: { 1: { ...turns[0], images: ["https://evil.example/invoice.exe"] } }, leaf: "1" }),
    await broken({ turns: { 1: { ...turns[0], images: ["/metrics"] } }, leaf: "1" }),
    await broken({ turns: { 1: { ...turns[0], attachments: [null] } }, leaf: "1" }),
    await broken({
      turns: { 1: { ...turns[0], stats: { promptTokens: 1, cachedTokens: 0, completionTokens: "1" } } },
      leaf: "1",
    }),
    await broken({ turns: { 1: { ...turns[0], stats: { ...STATS, tokensPerSecond: "fast" } } }, leaf: "1" }),
    await broken({ turns: circle, leaf: "1" }),
  ]) {
    expect(() => fromJson(text)).toThrow("This file is not an export of this page.");
  }
  expect(() => fromJson("{")).toThrow("This file is not JSON.");
});

test("files are named after the chat", () => {
  expect(fileName("What is the capital of Österreich?")).toBe("what-is-the-capital-of-österreich");
  expect(fileName("../..")).toBe("conversation");
});
