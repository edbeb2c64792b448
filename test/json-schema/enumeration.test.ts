// Long lists of texts, which branch in the grammar where the texts part.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { textAlternatives } from "../../src/json-schema/alternatives.ts";
import { choiceGrammar } from "../../src/json-schema/regex-grammar.ts";
import { prepareSchema } from "../../src/json-schema/prepare.ts";
import { library, load } from "../native/harness.ts";
import { randomNumbers } from "../support/dice.ts";

let llama: NativeLlama;

beforeAll(async () => {
  llama = library();
  await load(llama, { warmup: false });
});
afterAll(() => llama.unload());

function enumGrammar(values: readonly unknown[]): string {
  const { schema, inexpressible } = prepareSchema({ enum: values }, "schema");
  expect(inexpressible).toEqual([]);
  return llama.schemaGrammar(schema);
}

/** Two ways to ask for one of several texts: as JSON, and as they are. */
const ASKED = {
  enum: (values: readonly unknown[]) => {
    const grammar = enumGrammar(values);
    return (value: unknown) => llama.grammarAccepts(grammar, JSON.stringify(value));
  },
  choice: (values: readonly unknown[]) => {
    const grammar = choiceGrammar(values.map(String));
    return (value: unknown) => llama.grammarAccepts(grammar, String(value));
  },
};
const WAYS = Object.keys(ASKED) as (keyof typeof ASKED)[];

const AWKWARD = [
  "",
  'say "hi"',
  "a\\b",
  "a\nb",
  "\t",
  "\u0001",
  "é",
  "日本",
  "\u{1F600}",
  "\u{1F601}x",
  "(a|b)*",
  "$^.",
  "/",
  "\u2028",
];

/** The most alternatives beside one another anywhere in a grammar whose texts have no bars and brackets. */
const widest = (grammar: string) =>
  Math.max(...[...grammar.matchAll(/[^()\n]*/g)].map(([part]) => part.split("|").length));

describe.each(WAYS)("a long %s", (way) => {
  test("lets exactly these through", () => {
    const random = randomNumbers(5);
    const word = () => Array.from({ length: 1 + random() * 9 }, () => "abcdé-"[Math.floor(random() * 6)]).join("");
    const values = [...new Set([...AWKWARD, ...Array.from({ length: 300 }, word)])];
    const accepts = ASKED[way](values);
    for (const value of values) expect([value, accepts(value)]).toEqual([value, true]);
    for (let other = word(), round = 0; round < 300; round++, other = word()) {
      expect([other, accepts(other)]).toEqual([other, values.includes(other)]);
    }
    for (const value of values.slice(0, 60)) expect(accepts(`${value}abcdabcdabcd`)).toBe(false);
  });

  test("also where each begins with the one before, and some are there twice", () => {
    const chain = Array.from({ length: 150 }, (_, length) => "ab".repeat(75).slice(0, length));
    const accepts = ASKED[way](way === "enum" ? chain : [...chain, ...chain]);
    for (const value of chain) expect(accepts(value)).toBe(true);
    for (const value of ["b", `${chain.at(-1)}c`, "abb"]) expect(accepts(value)).toBe(false);
  });

  test("of numbers lets exactly these through", () => {
    const values = Array.from(
      { length: 5000 },
      (_, i) => (i % 2 ? -1 : 1) * ((i * 7919) % 100_003) + (i % 3 ? 0 : 0.5),
    );
    const accepts = ASKED[way](values);
    for (const value of values.slice(0, 20)) expect([value, accepts(value)]).toEqual([value, true]);
    for (const value of [1, 7918, -7918, 100_003, 7919.5]) {
      expect([value, accepts(value)]).toEqual([value, values.includes(value)]);
    }
  });
});

test("few alternatives are open at once, and as many as are counted", () => {
  const words = Array.from(
    { length: 5000 },
    (_, i) => `${["north", "south", "nowhere"][i % 3]} ${(i * 7919) % 10_007}`,
  );
  for (const values of [words, words.map((_, i) => (i * 7919) % 100_003)]) {
    const { open } = textAlternatives(values.map((value) => JSON.stringify(value)));
    expect(open).toBeLessThanOrEqual(11);
    expect(widest(enumGrammar(values))).toBe(open);
  }
});

test("values of several kinds in one list", () => {
  const words = Array.from({ length: 60 }, (_, i) => `w${i}`);
  const values = [...words, ...words.map((_, i) => i), null, true, { a: 1 }, [1, "x"]];
  const accepts = ASKED.enum(values);
  for (const value of values) expect([value, accepts(value)]).toEqual([value, true]);
  for (const value of [60, false, { a: 2 }, [1], "w60", "w"]) expect([value, accepts(value)]).toEqual([value, false]);
});

test("characters of four bytes are counted whole", () => {
  const emoji = Array.from({ length: 200 }, (_, i) => String.fromCodePoint(0x1f400 + i));
  expect(textAlternatives(emoji)).toEqual({ begin: 200, open: 200 });
  expect(textAlternatives(emoji.map((one) => `a${one}`))).toEqual({ begin: 1, open: 200 });
  expect(textAlternatives([...emoji, ...emoji.map((one) => `${one}x`)])).toEqual({ begin: 200, open: 200 });
});

test("names of rules stay short, whatever is in the values", () => {
  const values = [...Array.from({ length: 60 }, (_, i) => `w${i}`), `branch-${"x-".repeat(5000)}`, "branch0-branch1"];
  const grammar = enumGrammar(values);
  expect(grammar.length).toBeLessThan(20_000);
  for (const value of values.slice(-3)) expect(llama.grammarAccepts(grammar, JSON.stringify(value))).toBe(true);
});

describe("a client's own grammar with a long list in it", () => {
  const list = Array.from({ length: 100 }, (_, i) => `"k${i}"`);

  test.each([
    [
      "in brackets that repeat",
      `root ::= "[" (${list.join(" | ")}){2,3} "]"`,
      ["[k1k99]", "[k10k1k1]"],
      ["[k1]", "[k100]"],
    ],
    ["over lines, with comments", `root ::= # (\n${list.join(" | # |\n  ")} # )\n\n`, ["k1", "k99"], ["k", "k100"]],
    [
      "beside what is like one",
      `root ::= [(] "(" "\\"|" (${list.join("|")}) x\nx ::= "." | "!"`,
      ['(("|k7.'],
      ['(("|k7'],
    ],
    [
      "with escapes",
      `root ::= ${list.join(" | ")} | "\\x41\\"" | "\\u00e9" | "é!" | ""`,
      ['A"', "é", "é!", ""],
      ["A", "!"],
    ],
    ["with names that are taken", `root ::= branch0-0 "-" (${list.join("|")})\nbranch0-0 ::= "x"`, ["x-k3"], ["k3-k3"]],
    ["and an alternative that is no literal", `root ::= ${list.join(" | ")} | [xy]`, ["k42", "y"], ["z"]],
  ])("%s", (_, grammar, texts, others) => {
    for (const text of texts) expect([text, llama.grammarAccepts(grammar, text)]).toEqual([text, true]);
    for (const text of others) expect([text, llama.grammarAccepts(grammar, text)]).toEqual([text, false]);
  });

  test.each([
    `root ::= (${list.join(" | ")}`,
    `root ::= ${list.join(" | ")})`,
    `root ::= ${list.join(" | ")} | "x`,
    `root ::= ${list.join(" | ")} | "\\x4"`,
    `root ::= ${list.join(" | ")} | ?`,
  ])("is refused where it is none: %#", (grammar) => {
    expect(() => llama.grammarAccepts(grammar, "k1")).toThrow("not valid GBNF");
  });
});

test.each([
  [
    "texts that begin alike, and one another",
    ["", " ", "a", "ab", "a b ", "abc", "b", "ba", "é", "éa", 'say "hi"', "a\\b", "a\nb", "\u{1F600}", "\u{1F601}x"],
  ],
  ["the same twice", ["yes", "no", "yes"]],
  ["one alone", ["yes"]],
  ["nothing at all", [""]],
  [
    "more branches inside one another than brackets may be",
    Array.from({ length: 150 }, (_, length) => "ab".repeat(75).slice(0, length)),
  ],
])("a choice lets exactly its texts through: %s", (_, texts) => {
  const grammar = choiceGrammar(texts);
  for (const text of texts) expect([text, llama.grammarAccepts(grammar, text)]).toEqual([text, true]);
  const some = texts.filter((_, at) => at % Math.ceil(texts.length / 30) === 0);
  const others = some.flatMap((text) => [`${text}c`, `c${text}`, text.slice(1), text.slice(0, -1)]);
  for (const other of others)
    expect([other, llama.grammarAccepts(grammar, other)]).toEqual([other, texts.includes(other)]);
});
