import { expect, test } from "bun:test";
import { grammarSize } from "../../../src/text/gbnf/grammar-size.ts";

test("an everyday grammar has a small size", () => {
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

test("brackets count, except those in literals, classes, tokens and comments", () => {
  expect(grammarSize('root ::= (("a" | (b)) c)\nb ::= "b" # (((((').depth).toBe(3);
  expect(grammarSize('root ::= "(((" [(((] [\\](((] "\\"(((" <((((> ("x")').depth).toBe(1);
  expect(grammarSize(`root ::= ${"(".repeat(100_000)}`).depth).toBe(100_000);
});

test("repetitions are expanded", () => {
  const elements = (item: string) => grammarSize(`root ::= ${item}`).elements;
  const one = elements('"abcd"');
  expect(elements('"abcd"{3}') - one).toBe(8);
  expect(elements('"abcd"{2,5}') - one).toBe(16);
  expect(elements('"abcd"{2,}') - one).toBe(8);
  expect(elements(`"${"a".repeat(1000)}"{1999}`)).toBeGreaterThan(1_990_000);
  // A bracket is expanded once, and repeated as a reference.
  expect(elements('("abcd" "efgh"){1000}')).toBeLessThan(1100);
  // More than llama.cpp accepts.
  expect(elements('"a"{1,999999999}')).toBeLessThan(3000);
});

test("paths by which rules begin with others are counted", () => {
  const doubling = (depth: number, item: (next: string) => string) => {
    const rules = Array.from({ length: depth }, (_, i) => `a${i} ::= ${item(`a${i + 1}`)}`);
    return grammarSize(`root ::= a0\n${rules.join("\n")}\na${depth} ::= "x"`).paths;
  };
  expect(doubling(60, (next) => `${next} | ${next}`)).toBeGreaterThan(2 ** 60);
  expect(doubling(60, (next) => `"x" ${next} | "y" ${next}`)).toBeLessThan(1000);
  // An item that may be empty lets the next one begin.
  expect(doubling(60, (next) => `${next}? ${next}`)).toBeGreaterThan(2 ** 60);
  expect(doubling(60, (next) => `(${next} "y")* "" ${next}`)).toBeGreaterThan(2 ** 60);
  expect(doubling(60, (next) => `${next} ${next}`)).toBeLessThan(10_000);
  expect(doubling(2000, (next) => next)).toBe(Number.POSITIVE_INFINITY);
});

test("rules that llama.cpp creates for repetitions begin with the repeated item", () => {
  const doubling = Array.from({ length: 18 }, (_, i) => `a${i} ::= a${i + 1} | a${i + 1}`).join("\n");
  const grammar = (item: string) => `root ::= ${item}\n${doubling}\na18 ::= "x"`;
  const { paths } = grammarSize(grammar('"y" a0'));
  expect(grammarSize(grammar('"y" a0{0,2000}')).paths).toBeGreaterThan(100 * paths);
  expect(grammarSize(grammar("a0{0,2000}")).paths).toBeGreaterThan(100 * paths);
  const list = 'root ::= "[" (value ("," value)*){0,2000} "]"\nvalue ::= [a-z]+ | [0-9]+ | "(" value ")"';
  expect(grammarSize(list).paths).toBeLessThan(100_000);
});

test("letters of names count in each bracket and each repetition", () => {
  const letters = (item: string) => grammarSize(`${"n".repeat(100)} ::= ${item}`).letters;
  expect(letters('"x"')).toBe(100);
  expect(letters('("x" ("y"))')).toBe(300);
  expect(letters('"x"{3,2000} "y"*')).toBe(100 * 2002);
});

test("the items that rules begin with are counted", () => {
  const words = (count: number) => Array.from({ length: count }, (_, i) => `"w${i}"`).join(" | ");
  expect(grammarSize(`root ::= "x" (${words(300)}) end\nend ::= "." | "!"`).beginnings).toBe(300);
  expect(grammarSize('root ::= a? b "c"\na ::= "1" | "2"\nb ::= ("3" | "4")* "5"').beginnings).toBe(5);
});

test("text that is not a grammar has sizes, too", () => {
  for (const text of ["", "root", "::=", "root ::=", '"', "[", "<", "{", "root ::= }{2,", "root ::= *", ")))", "\\"]) {
    expect(Number.isFinite(grammarSize(text).paths)).toBe(true);
  }
  expect(grammarSize("root ::= root | root").paths).toBeLessThan(10);
});

test("left recursion behind an item that llama.cpp does not recognize as empty is found", () => {
  const isHidden = (grammar: string) => grammarSize(grammar).hasHiddenRecursion;
  const behind = (before: string) => isHidden(`root ::= a\na ::= ${before} a "x" | "z"\ne ::= f\nf ::= "" | "y"`);
  expect(behind("e")).toBe(true);
  expect(behind("e{1,3}")).toBe(true);
  expect(behind("(f)")).toBe(true);
  expect(behind('("y"?)')).toBe(true);
  expect(isHidden('root ::= a\na ::= b "x" | "z"\nb ::= c\nc ::= e a\ne ::= (("y")?)')).toBe(true);
  expect(isHidden('e ::= ("y"*)\nroot ::= "k" (e root "x")* ')).toBe(false);
  // llama.cpp refuses these.
  expect(behind("")).toBe(false);
  expect(behind("f")).toBe(false);
  expect(behind('"y"?')).toBe(false);
  // llama.cpp stores nothing for an item after a left-recursive reference at the end.
  const list = 'root ::= list\nlist ::= ws list | "x" list?\nws ::= [ \\t]*';
  expect(isHidden(list)).toBe(false);
  expect(isHidden(list.replace("ws list", 'ws list ","'))).toBe(true);
  expect(isHidden('root ::= a | c\na ::= "1" | b\nb ::= a "2"\nc ::= "3" | e b\ne ::= f\nf ::= "" | "y"')).toBe(false);
  // Items after characters open one by one, and repeating an item that may be empty is not recursion.
  expect(behind('"y"')).toBe(false);
  expect(behind('e "y"')).toBe(false);
  expect(isHidden('root ::= "z" | "x" root\ne ::= (("y"?)*)* e-\ne- ::= "z" root')).toBe(false);
});

test("the size of earlier definitions of a rule remains", () => {
  const long = `x ::= "${"k".repeat(1000)}"{0,2000}\n`;
  const { elements } = grammarSize(`${long}x ::= "y"\nroot ::= x`);
  expect(elements).toBeGreaterThan(2_000_000);
  expect(grammarSize(`${long.repeat(20)}x ::= "y"\nroot ::= x`).elements).toBeGreaterThan(19 * elements);
  expect(grammarSize('x ::= "y"\nroot ::= x').elements).toBe(5);
});

test("the items that may begin anywhere in a rule are counted with what follows them", () => {
  const beginnings = (root: string, rules = "") => {
    const words = Array.from({ length: 100 }, (_, i) => `"w${i}"`).join(" | ");
    return grammarSize(`root ::= ${root}\na ::= ${words}\n${rules}`).beginnings;
  };
  expect(beginnings(`"k" ${"a? ".repeat(10)}`)).toBe(1000);
  expect(beginnings(`"k" a ${"a? ".repeat(10)}`)).toBe(1000);
  expect(beginnings("(a?){20}")).toBe(2000);
  expect(beginnings("a?{20}")).toBe(2000);
  expect(beginnings('("k" a? | "l") a? "." a?')).toBe(201);
  expect(beginnings(`${"(".repeat(10)}"k"${" a?)".repeat(10)}`)).toBe(1000);
  expect(beginnings('b a? "."', 'b ::= c a?\nc ::= "k" a* b?')).toBeGreaterThanOrEqual(300);
  // These open one after another.
  expect(beginnings('"k" a{0,1000} "."')).toBe(101);
  expect(beginnings('"k" (a ".")* "." a "." a')).toBe(101);
  expect(beginnings('b "."', 'b ::= "(" b ")" a? | "k"')).toBeLessThanOrEqual(102);
  expect(beginnings('"k" "."', "b ::= b-{3}\nb- ::= a")).toBe(100);
});

test("optional parts in a row are counted", () => {
  const row = (root: string) => grammarSize(`root ::= ${root}\na ::= "1" | "2"`).row;
  expect(row('"k" a? a? a* "."')).toBe(4);
  expect(row('("x"?){0,300}')).toBe(300);
  expect(row("((a?){0,10} .){0,10}")).toBe(11);
  expect(row("((a?){10}){10}")).toBeGreaterThanOrEqual(100);
  expect(row("[a-z]{0,1000}")).toBe(1);
  expect(row(`${"([a-z] ".repeat(1000)}"."${")?".repeat(1000)}`)).toBe(1);
});

test("repetitions of an item that begins with a rule are searched for left recursion", () => {
  const doubling = Array.from({ length: 16 }, (_, i) => `a${i} ::= a${i + 1} | a${i + 1}`).join("\n");
  const paths = (items: string) => grammarSize(`root ::= "y" ${items}\n${doubling}\na16 ::= "x"`).paths;
  for (const operator of ["?", "*", "{0,1}"]) {
    expect(paths(`a0${operator} `.repeat(100))).toBeGreaterThan(20 * paths("a0 ".repeat(100)));
  }
});

test("the lookups of each answer are counted", () => {
  const doubling = Array.from({ length: 14 }, (_, i) => `a${i} ::= a${i + 1} "x" | a${i + 1} "y"`).join("\n");
  const { lookups } = grammarSize(`root ::= a0 | "${"z".repeat(400)}"{2000}\n${doubling}\na14 ::= "k"`);
  expect(lookups).toBeGreaterThan(50_000_000_000);
  const words = Array.from({ length: 10_000 }, (_, i) => `"word-${i}"`).join(" | ");
  expect(grammarSize(`root ::= ${words}`).lookups).toBeLessThan(2_000_000_000);
});

test("the comparisons at the beginning of a rule are counted", () => {
  const doubling = Array.from({ length: 14 }, (_, i) => `a${i} ::= a${i + 1} "x" | a${i + 1} "y"`).join("\n");
  const deep = `root ::= "k" ${"(".repeat(30)}a0${' "x")'.repeat(30)}\n${doubling}\na14 ::= "k"`;
  expect(grammarSize(deep).comparisons).toBeGreaterThan(10_000_000_000);
  const words = Array.from({ length: 20_000 }, (_, i) => `"word-${i}"`).join(" | ");
  expect(grammarSize(`root ::= "k" (${words}) "x"`).comparisons).toBeLessThan(1_000_000_000);
});

test("a grammar is parsed as by llama.cpp", () => {
  const long = `"${"k".repeat(1000)}"`;
  for (const item of [`(${long}{0 # least\n, # most\n2000 })`, `"x" # \r ${long}{2000}`, `<\\> ${long}{2000} <b>`]) {
    expect(grammarSize(`root ::= ${item}`).elements).toBeGreaterThan(2_000_000);
  }
  // A class with only its sign is empty.
  const rules = Array.from({ length: 30 }, (_, i) => `a${i} ::= [^] a${i + 1} | [^] a${i + 1}`).join("\n");
  expect(grammarSize(`root ::= a0\n${rules}\na30 ::= "x"`).paths).toBeGreaterThan(2 ** 30);
  expect(grammarSize('root ::= "x"{5,2} "y"{2,5} "z"{3,} [a]{4}').reversed).toBe(1);
});
