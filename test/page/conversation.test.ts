import { expect, test } from "bun:test";
import {
  addTurn,
  changeTurn,
  contextUsed,
  edited,
  fork,
  mergedWith,
  newConversation,
  pathOf,
  showBranch,
  siblingsOf,
  titleOf,
  type Turn,
} from "../../src/page/logic/conversation.ts";

let clock = 0;
const turn = (id: string, parent: string | null, role: Turn["role"] = "user"): Turn => {
  return { id, parent, role, text: id, createdAt: ++clock };
};
const talk = (...turns: Turn[]) => turns.reduce(addTurn, newConversation("c", 0));
const ids = (path: readonly Turn[]) => path.map(({ id }) => id).join(" ");

test("the latest branch is shown, from the beginning", () => {
  const one = talk(turn("hi", null), turn("hello", "hi", "assistant"), turn("more", "hello"));
  expect(ids(pathOf(one))).toBe("hi hello more");
  expect(ids(pathOf(one, "hello"))).toBe("hi hello");
  expect(ids(pathOf(newConversation("c", 0)))).toBe("");
});

test("two tabs that continue one conversation keep the turns of both, and the own version of a turn", () => {
  const hi = turn("hi", null);
  const [here, there] = [talk(hi, turn("here", "hi")), talk({ ...hi, text: "old" }, turn("there", "hi"))];
  const both = mergedWith(here, there);
  expect(Object.keys(both.turns).toSorted()).toEqual(["here", "hi", "there"]);
  expect([both.turns["hi"]?.text, ids(pathOf(both))]).toEqual(["hi", "hi here"]);
});

test("an answer that one tab has completed is kept when another tab stores an earlier part of it", () => {
  const asked = talk(turn("q", null), turn("a", "q", "assistant"));
  const complete = changeTurn(asked, "a", { text: "all of it", finish: "stop" });
  for (const both of [mergedWith(asked, complete), mergedWith(complete, asked)]) {
    expect(both.turns["a"]).toMatchObject({ text: "all of it", finish: "stop" });
  }
});

test("of two tabs' titles and settings, the newer ones are kept", () => {
  const old = talk(turn("q", null));
  const renamed = edited(old, { title: "Better" }, 1);
  const set = edited(renamed, { settings: { seed: 1 } }, 2);
  for (const both of [mergedWith(old, set), mergedWith(set, old), mergedWith(renamed, set)]) {
    expect([both.title, both.settings]).toEqual(["Better", { seed: 1 }]);
  }
});

test("an edit adds a branch next to the first version, and both can be shown with what follows them", () => {
  const first = turn("first", null);
  const one = talk(first, turn("a", "first", "assistant"), turn("second", null), turn("b", "second", "assistant"));
  expect(ids(pathOf(one))).toBe("second b");
  expect(ids(siblingsOf(one, first))).toBe("first second");
  expect(ids(pathOf(showBranch(one, "first")))).toBe("first a");
});

test("the newest of several answers is shown when their question is shown again", () => {
  const answers = [turn("old", "q", "assistant"), turn("new", "q", "assistant")];
  const one = talk(turn("q", null), ...answers, turn("other", null));
  expect(ids(pathOf(showBranch(one, "q")))).toBe("q new");
  expect(ids(siblingsOf(one, answers[0] ?? turn("", null)))).toBe("old new");
});

test("a branch that becomes a separate chat has only the turns that lead to it", () => {
  const one = talk(turn("q", null), turn("a", "q", "assistant"), turn("more", "a"), turn("else", null));
  const copy = fork(one, "a", "new", 99);
  expect([copy.id, copy.title, ids(pathOf(copy)), Object.keys(copy.turns).length]).toEqual([
    "new",
    "q (branch)",
    "q a",
    2,
  ]);
  expect(Object.keys(one.turns)).toHaveLength(4);
});

test("an answer does not restore a deleted turn", () => {
  const one = talk(turn("q", null));
  expect(changeTurn(one, "gone", { text: "x" })).toBe(one);
  expect(changeTurn(one, "q", { text: "x" }).turns["q"]?.text).toBe("x");
});

test("a chat is named after its first words, or its first file", () => {
  expect(titleOf({ text: "  Two\n words " })).toBe("Two words");
  expect(titleOf({ text: "", attachments: [{ kind: "image", name: "cat.png", data: "" }] })).toBe("cat.png");
  const long = titleOf({ text: "word ".repeat(40) });
  expect(long.length).toBeLessThanOrEqual(61);
  expect(long).toEndWith("word…");
  for (const text of ["😀".repeat(80), `a${"😀".repeat(40)}`]) expect(titleOf({ text }).isWellFormed()).toBe(true);
});

test("the used context is that of the last answer in the branch", () => {
  const stats = { promptTokens: 10, cachedTokens: 4, completionTokens: 5 };
  const one = changeTurn(talk(turn("q", null), turn("a", "q", "assistant"), turn("more", "a")), "a", { stats });
  expect(contextUsed(pathOf(one))).toBe(15);
  expect(contextUsed([])).toBeUndefined();
});
