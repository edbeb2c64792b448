import { expect, test } from "bun:test";
import type { OutputEvent } from "../../src/domain/generate.ts";
import type { TokenLogprob } from "../../src/domain/usage.ts";
import { Unfenced } from "../../src/text/unfenced.ts";

const logprob = (token: string): TokenLogprob => ({ token, logprob: -1, bytes: [], top: [] });
const textEvent = (text: string) => ({ type: "text", text, logprobs: [logprob(text)] }) as const;
const textOf = (events: readonly OutputEvent[]) => events.map((event) => ("text" in event ? event.text : "")).join("");

/** Returns what is left of a text that arrives in pieces of this many characters. */
function shown(text: string, size: number): OutputEvent[] {
  const unfenced = new Unfenced();
  const pieces = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
  return pieces.flatMap((piece, at) => unfenced.push([textEvent(piece)], at === pieces.length - 1));
}

const JSON_TEXT = '{"a": "``` \\n```", "b": [1]}';
test.each([
  ["```json\n{}\n```", "{}"],
  [` \n\`\`\`JSON  \r\n${JSON_TEXT}\n  \`\`\`\n`, JSON_TEXT],
  ["```\n[1,\n 2]\n```\nThis is a list.", "[1,\n 2]"],
  ['```json {"a": 1}```', '{"a": 1}'],
  ["```\ntrue", "true"],
  // Nothing is taken from a text that does not begin with a fence.
  [`\n${JSON_TEXT} `, `\n${JSON_TEXT} `],
  ["Use ```x``` or\n```y\n```", "Use ```x``` or\n```y\n```"],
  ["``", "``"],
  ["```json", "```json"],
  [" ".repeat(100), " ".repeat(100)],
])("of %j remains %j, however it is split", (text, expected) => {
  for (let size = 1; size <= text.length; size++) expect(textOf(shown(text, size))).toBe(expected);
});

test("the tokens of the fence have no log probabilities, those of the JSON keep theirs", () => {
  const unfenced = new Unfenced();
  const pieces = ["```", "json", "\n", "{", "}", "\n", "```"];
  const events = pieces.flatMap((piece, at) => unfenced.push([textEvent(piece)], at === pieces.length - 1));
  expect(events).toEqual([textEvent("{"), textEvent("}")]);
});

test("other events pass in their order, and text before a call is not held back", () => {
  const unfenced = new Unfenced();
  const call = { type: "tool_call", index: 0, id: "a", name: "f" } as const;
  const thought = { type: "reasoning", text: "hm" } as const;
  expect(unfenced.push([thought, textEvent("\n"), call])).toEqual([thought, textEvent("\n"), call]);
});

test("a text is shown while it is written, but for what may belong to a fence", () => {
  const unfenced = new Unfenced();
  const written = ["```json\n", '{"a":', " 1", "}\n"].map((piece) => textOf(unfenced.push([textEvent(piece)])));
  expect(written).toEqual(["", '{"a":', " 1", "}"]);
});
