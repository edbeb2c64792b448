import { expect, test } from "bun:test";
import { grammarSize } from "../../src/text/gbnf.ts";

test("an everyday grammar", () => {
  const json = String.raw`
    # JSON, as llama.cpp has it
    root   ::= object
    value  ::= object | array | string | ("true" | "false" | "null") ws
    object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
    array  ::= "[" ws ( value ("," ws value)* )? "]" ws
    string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
    ws     ::= | " " | "\n" [ \t]{0,20}`;
  const { depth, elements, paths } = grammarSize(json);
  expect(depth).toBe(2);
  expect(elements).toBeLessThan(400);
  expect(paths).toBeLessThan(1000);
});

test("brackets count, but not those in literals, classes, tokens and comments", () => {
  expect(grammarSize('root ::= (("a" | (b)) c)\nb ::= "b" # (((((').depth).toBe(3);
  expect(grammarSize('root ::= "(((" [(((] [\\](((] "\\"(((" <((((> ("x")').depth).toBe(1);
  expect(grammarSize(`root ::= ${"(".repeat(100_000)}`).depth).toBe(100_000);
});

test("repetitions are spelled out", () => {
  const elements = (item: string) => grammarSize(`root ::= ${item}`).elements;
  const one = elements('"abcd"');
  expect(elements('"abcd"{3}') - one).toBe(8);
  expect(elements('"abcd"{2,5}') - one).toBe(16);
  expect(elements('"abcd"{2,}') - one).toBe(8);
  expect(elements(`"${"a".repeat(1000)}"{1999}`)).toBeGreaterThan(1_990_000);
  // A bracket is spelled out once, and repeated as a reference.
  expect(elements('("abcd" "efgh"){1000}')).toBeLessThan(1100);
  // More than llama.cpp takes.
  expect(elements('"a"{1,999999999}')).toBeLessThan(3000);
});

test("paths by which rules begin with others", () => {
  const doubling = (depth: number, item: (next: string) => string) => {
    const rules = Array.from({ length: depth }, (_, i) => `a${i} ::= ${item(`a${i + 1}`)}`);
    return grammarSize(`root ::= a0\n${rules.join("\n")}\na${depth} ::= "x"`).paths;
  };
  expect(doubling(60, (next) => `${next} | ${next}`)).toBeGreaterThan(2 ** 60);
  expect(doubling(60, (next) => `"x" ${next} | "y" ${next}`)).toBeLessThan(1000);
  // What may be empty lets the next begin.
  expect(doubling(60, (next) => `${next}? ${next}`)).toBeGreaterThan(2 ** 60);
  expect(doubling(60, (next) => `(${next} "y")* "" ${next}`)).toBeGreaterThan(2 ** 60);
  expect(doubling(60, (next) => `${next} ${next}`)).toBeLessThan(10_000);
  expect(doubling(2000, (next) => next)).toBe(Number.POSITIVE_INFINITY);
});

test("rules that llama.cpp makes of repetitions begin with what is repeated", () => {
  const doubling = Array.from({ length: 18 }, (_, i) => `a${i} ::= a${i + 1} | a${i + 1}`).join("\n");
  const grammar = (item: string) => `root ::= ${item}\n${doubling}\na18 ::= "x"`;
  const { paths } = grammarSize(grammar('"y" a0'));
  expect(grammarSize(grammar('"y" a0{0,2000}')).paths).toBeGreaterThan(100 * paths);
  expect(grammarSize(grammar("a0{0,2000}")).paths).toBeGreaterThan(100 * paths);
  const list = 'root ::= "[" (value ("," value)*){0,2000} "]"\nvalue ::= [a-z]+ | [0-9]+ | "(" value ")"';
  expect(grammarSize(list).paths).toBeLessThan(100_000);
});

test("letters of names are in each bracket and each repetition", () => {
  const letters = (item: string) => grammarSize(`${"n".repeat(100)} ::= ${item}`).letters;
  expect(letters('"x"')).toBe(100);
  expect(letters('("x" ("y"))')).toBe(300);
  expect(letters('"x"{3,2000} "y"*')).toBe(100 * 2002);
});

test("what rules begin with", () => {
  const words = (count: number) => Array.from({ length: count }, (_, i) => `"w${i}"`).join(" | ");
  expect(grammarSize(`root ::= "x" (${words(300)}) end\nend ::= "." | "!"`).beginnings).toBe(300);
  expect(grammarSize('root ::= a? b "c"\na ::= "1" | "2"\nb ::= ("3" | "4")* "5"').beginnings).toBe(5);
});

test("what is no grammar has sizes, too", () => {
  for (const text of ["", "root", "::=", "root ::=", '"', "[", "<", "{", "root ::= }{2,", "root ::= *", ")))", "\\"]) {
    expect(Number.isFinite(grammarSize(text).paths)).toBe(true);
  }
  expect(grammarSize("root ::= root | root").paths).toBeLessThan(10);
});
