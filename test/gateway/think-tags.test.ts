import { expect, test } from "bun:test";
import { ThinkTags } from "../../src/gateway/think-tags.ts";

function split(pieces: readonly string[]) {
  const tags = new ThinkTags();
  const parts = [...pieces.map((piece) => tags.push(piece)), tags.end()];
  return [parts.map(({ reasoning }) => reasoning).join(""), parts.map(({ text }) => text).join("")];
}

test.each([
  ["<think>hm</think>\n\nHello", "hm", "Hello"],
  ["\n<think>\nhm\n</think>Hello <think>", "\nhm\n", "Hello <think>"],
  ["Hello <think>no</think>", "", "Hello <think>no</think>"],
  ["<thin ice", "", "<thin ice"],
  ["<think>never </thi closed", "never </thi closed", ""],
  ["<thi", "", "<thi"],
  ["", "", ""],
])("%j is separated into reasoning and text, wherever it is split", (whole, reasoning, text) => {
  expect(split([whole])).toEqual([reasoning, text]);
  expect(split([...whole])).toEqual([reasoning, text]);
  for (let cut = 0; cut <= whole.length; cut++) {
    expect(split([whole.slice(0, cut), whole.slice(cut)])).toEqual([reasoning, text]);
  }
});

test("endless white space is text, and is not held back for a tag", () => {
  const tags = new ThinkTags();
  let text = "";
  for (let piece = 0; piece < 1024; piece++) text += tags.push(" ").text;
  expect(text).toBe(" ".repeat(1024));
});
