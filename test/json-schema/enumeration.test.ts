import { afterAll, beforeAll, expect, test } from "bun:test";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { prepareSchema } from "../../src/json-schema/prepare.ts";
import { choiceGrammar } from "../../src/json-schema/regex-grammar.ts";
import { library, load } from "../native/harness.ts";
import { randomNumbers } from "../support/dice.ts";

let llama: NativeLlama;

beforeAll(async () => {
  llama = library();
  await load(llama, { warmup: false });
});
afterAll(() => llama.unload());

const grammarOf = (values: readonly unknown[]) => {
  const { schema, inexpressible } = prepareSchema({ enum: values }, "schema");
  expect(inexpressible).toEqual([]);
  return llama.schemaGrammar(schema);
};
const accepts = (grammar: string, value: unknown) => llama.grammarAccepts(grammar, JSON.stringify(value));

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

test("a long list of strings lets exactly these through", () => {
  const random = randomNumbers(5);
  const word = () => Array.from({ length: 1 + random() * 9 }, () => "abcdé-"[Math.floor(random() * 6)]).join("");
  const values = [...new Set([...AWKWARD, ...Array.from({ length: 300 }, word)])];
  const grammar = grammarOf(values);
  for (const value of values) expect([value, accepts(grammar, value)]).toEqual([value, true]);
  for (let other = word(), round = 0; round < 300; round++, other = word()) {
    expect([other, accepts(grammar, other)]).toEqual([other, values.includes(other)]);
  }
  for (const value of values.slice(0, 60)) {
    const longer = `${value}abcdabcdabcd`;
    expect(accepts(grammar, longer)).toBe(false);
  }
});

test("also where each begins with the one before, and beside values of other kinds", () => {
  const chain = Array.from({ length: 150 }, (_, length) => "ab".repeat(75).slice(0, length));
  const grammar = grammarOf([...chain, 1, null, true, { a: 1 }]);
  for (const value of [...chain, 1, null, true, { a: 1 }]) expect(accepts(grammar, value)).toBe(true);
  for (const value of ["b", `${chain.at(-1)}c`, 2, false, "abb"]) expect(accepts(grammar, value)).toBe(false);
});

test("few alternatives are open at once", () => {
  const values = Array.from(
    { length: 5000 },
    (_, i) => `${["north", "south", "nowhere"][i % 3]} ${(i * 7919) % 10_007}`,
  );
  const grammar = grammarOf(values);
  expect(accepts(grammar, values[4321])).toBe(true);
  const most = Math.max(...[...grammar.matchAll(/[^()]*/g)].map(([part]) => part.split("|").length));
  expect(most).toBeLessThanOrEqual(11);
});

test("thousands of numbers let exactly these through", () => {
  const values = Array.from({ length: 5000 }, (_, i) => (i % 2 ? -1 : 1) * ((i * 7919) % 100_003) + (i % 3 ? 0 : 0.5));
  const grammar = grammarOf(values);
  for (const value of values.slice(0, 20)) expect([value, accepts(grammar, value)]).toEqual([value, true]);
  for (const value of [1, 7918, -7918, 100_003, 7919.5]) {
    expect([value, accepts(grammar, value)]).toEqual([value, values.includes(value)]);
  }
});

test.each([
  [
    "texts that begin alike, and one another",
    ["", "a", "ab", "abc", "b", "ba", "é", "éa", 'say "hi"', "a\\b", "a\nb", "\u{1F600}", "\u{1F601}x"],
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
  const others = texts.flatMap((text) => [`${text}c`, `c${text}`, text.slice(1), text.slice(0, -1)]);
  for (const other of others)
    expect([other, llama.grammarAccepts(grammar, other)]).toEqual([other, texts.includes(other)]);
});
