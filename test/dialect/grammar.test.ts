// Which grammars are refused, and with which error.

import { expect, test } from "bun:test";
import { grammarConstraint } from "../../src/dialect/fields/grammar.ts";

function refusal(grammar: string): string | undefined {
  try {
    grammarConstraint(grammar);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const nested = (depth: number) => `root ::= ${"(".repeat(depth)}"x"${")".repeat(depth)}`;
const words = Array.from({ length: 5000 }, (_, i) => `"w${i}"`).join(" | ");

test("a thousand nested brackets are accepted and one more is not, wherever they are", () => {
  const behind = (depth: number) => nested(depth).replace("root", "root ::= a\na ::= b\nb");
  const optional = (depth: number) => nested(depth).replaceAll(")", ")?");
  for (const grammar of [nested, behind, optional]) {
    expect(refusal(grammar(1000))).toBeUndefined();
    expect(refusal(grammar(1001))).toBe("'grammar' may have at most 1000 nested brackets; got 1001.");
  }
  expect(refusal(nested(500_000))).toBe("'grammar' may have at most 1000 nested brackets; got 500000.");
});

test("a grammar that would cost seconds or gigabytes is refused with what it has too much of", () => {
  const refused: readonly (readonly [string, string])[] = [
    [`root ::= ${words} | "x"`, "5000 alternatives that begin at one place; got 5001."],
    [`root ::= "k" ${"a? ".repeat(10)}\na ::= ${words}`, "5000 alternatives that begin at one place; got 50000."],
    [`root ::= (a?){20}\na ::= ${words}`, "5000 alternatives that begin at one place; got 100000."],
    ['root ::= ("x"?){0,300}', "256 consecutive optional parts; got 300."],
    ['root ::= "x"{5,2}', "0 repetitions whose upper bound is below the lower; got 1."],
    [`${`x ::= "${"k".repeat(999)}"{2000}\n`.repeat(2)}x ::= "y"\nroot ::= x`, "1000000 elements with its repetitions"],
  ];
  for (const [grammar, message] of refused) expect(refusal(grammar)).toContain(`may have at most ${message}`);
  expect(refusal('root ::= a\na ::= e a "x" | "z"\ne ::= f\nf ::= "" | "y"')).toBe(
    "'grammar' must not have a rule that begins with itself after parts that can be empty.",
  );
});

test("common grammars are accepted", () => {
  const taken = [
    'root ::= "- " [^\\n]{0,1000} ("\\n- " [^\\n]{0,1000})*',
    'root ::= ("a" | "b" | "c" | "d"){0,1000} "."',
    'root ::= sum\nsum ::= term ([-+] term)*\nterm ::= value ([*/] value)*\nvalue ::= [0-9]+ | "(" sum ")" | "-" value',
    'root ::= (ws [0-9]+ ws ",")* ws\nws ::= | " " | "\\n" [ \\t]{0,20}',
    'root ::= list?\nlist ::= item ("," list)?\nitem ::= [a-z]+ | "(" list? ")"',
    'root ::= e\ne ::= "-" e ("+" e)? | [0-9] e?',
    `root ::= "The " a " and the " a (", " a)* "."\na ::= ${words}`,
  ];
  for (const grammar of taken) expect([grammar, refusal(grammar)]).toEqual([grammar, undefined]);
});
