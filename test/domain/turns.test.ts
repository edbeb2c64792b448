import { describe, expect, test } from "bun:test";
import { joinTurns, withOrderedResults } from "../../src/domain/turns.ts";
import type { ChatMessage } from "../../src/domain/generate.ts";

const say = (text: string): ChatMessage[] =>
  text.split(" ").map((turn) => {
    const [letter = "", content = ""] = turn.split(":");
    const role = { s: "system", u: "user", a: "assistant", t: "tool" }[letter] as ChatMessage["role"];
    return { role, content };
  });
const picture = { type: "media", source: { kind: "image", url: "data:,", detail: "auto" }, param: "x" } as const;

describe("turns", () => {
  test.each([
    ["one of each stays", "", "s:S u:A a:B u:C", "s:S u:A a:B u:C"],
    ["system turns before the first answer are the first turn", "", "s:S u:A s:T a:B", "s:S\n\nT u:A a:B"],
    ["also where none stood first", "", "u:A s:T", "s:T u:A"],
    ["a user's turns in a row are one", "", "u:A u:B a:C u:D u:E", "u:A\n\nB a:C u:D\n\nE"],
    ["an assistant's turns in a row are one", "", "u:A a:B a: a:C u:D", "u:A a:B\n\nC u:D"],
    ["later system turns stay where they are: after a user", "T", "u:A a:B u:C s:T a:D", "u:A a:B u:C\n\nT a:D"],
    ["after a result", "T", "u:A a:B t:C s:T t:D", "u:A a:B t:C\n\nT t:D"],
    ["after an answer", "T", "u:A a:B s:T u:C", "u:A a:B u:T\n\nC"],
    ["results stay apart from each other and from the user", "", "u:A a:B t:C t:D u:E", "u:A a:B t:C t:D u:E"],
  ])("%s", (_, reminder, before, after) => {
    const written = `<system-reminder>\n${reminder}\n</system-reminder>`;
    const expected = say(after).map((turn) => {
      const content = turn.role === "system" ? turn.content : String(turn.content).replace("T", written);
      return { ...turn, content };
    });
    expect(joinTurns(say(before))).toEqual(expected);
  });

  test("an assistant's turns keep their reasoning, and end at one with calls", () => {
    const role = "assistant";
    const toolCalls = [{ id: "c", name: "f", arguments: "{}" }];
    const thinking: ChatMessage = { role, content: "B", reasoning: "Q" };
    const asking: ChatMessage = { role, content: "", reasoning: "R", toolCalls };
    expect(joinTurns([...say("u:A"), thinking, ...say("a:C"), asking, asking, ...say("a:D a:E")])).toEqual([
      ...say("u:A"),
      { role, content: "B\n\nC", reasoning: "Q\nR", toolCalls },
      asking,
      { role, content: "D\n\nE" },
    ]);
  });

  test("joining turns keeps their images, in order", () => {
    const turns: ChatMessage[] = [...say("u:A"), { role: "user", content: [picture] }, ...say("u:B")];
    const parts = [{ type: "text" as const, text: "A" }, picture, { type: "text" as const, text: "B" }];
    expect(joinTurns(turns)).toEqual([{ role: "user", content: parts }]);
  });

  test("consecutive texts are joined, even after an image", () => {
    const turns: ChatMessage[] = [...say("u:A u:B"), { role: "user", content: [picture] }, ...say("u:C u:D")];
    const text = (text: string) => ({ type: "text" as const, text });
    expect(joinTurns(turns)).toEqual([{ role: "user", content: [text("A\n\nB"), picture, text("C\n\nD")] }]);
  });

  test("a million user turns after an image are joined in linear time", () => {
    const [turn] = say("u:A") as [ChatMessage];
    const [joined, ...rest] = joinTurns([{ role: "user", content: [picture] }, ...Array<ChatMessage>(1e6).fill(turn)]);
    expect(rest).toEqual([]);
    expect(joined?.content[0]).toBe(picture);
    expect(JSON.stringify(joined).split("A")).toHaveLength(1e6 + 1);
  }, 120_000);

  test("a conversation that continues keeps its joined beginning unchanged", () => {
    const all = say("s:S u:A s:T a:B t:C s:U a:D u:E s:V a:F u:G");
    const whole = joinTurns(all);
    for (const [index, turn] of all.entries()) {
      if (turn.role !== "assistant") continue;
      const before = joinTurns(all.slice(0, index));
      expect(whole.slice(0, before.length)).toEqual(before);
    }
  });
});

test("results of calls in several turns in a row get the order and names of those", () => {
  const asking = (id: string): ChatMessage => ({
    role: "assistant",
    content: "",
    toolCalls: [{ id, name: `tool-${id}`, arguments: "{}" }],
  });
  const result = (toolCallId: string): ChatMessage => ({ role: "tool", toolCallId, content: "dry" });
  const named = (id: string) => ({ ...result(id), name: `tool-${id}` });
  const turns = [asking("a"), asking("b"), result("b"), result("a"), asking("c"), result("a"), result("c")];
  const expected = [asking("a"), asking("b"), named("a"), named("b"), asking("c"), named("c"), result("a")];
  expect(withOrderedResults(turns)).toEqual(expected);
});
