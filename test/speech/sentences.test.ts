// Long texts are spoken sentence by sentence.

import { expect, test } from "bun:test";
import { splitSentences } from "../../src/speech/sentences.ts";

const split = (text: string): string[] => splitSentences(text, new Set(["Dr", "Mr", "St"]));

test("sentences end at marks before a capital letter or a number, and at line breaks", () => {
  expect(split("One. Two! Three? 4 is next… (Five.) Six")).toEqual([
    "One.",
    "Two!",
    "Three?",
    "4 is next…",
    "(Five.",
    "Six",
  ]);
  expect(split("a title\n\nA line.\r\n  Another  \n \n")).toEqual(["a title", "A line.", "Another"]);
  expect(split("3.14 is e.g. not the end of it")).toEqual(["3.14 is e.g. not the end of it"]);
  expect(split("नमस्ते। आप कैसे हैं?")).toEqual(["नमस्ते।", "आप कैसे हैं?"]);
  expect(split("# A title\n## Next\n#1 of #x")).toEqual(["A title", "Next", "#1 of #x"]);
  expect(split(" \n\t")).toEqual([]);
});

test("a dot after a title or an initial does not end a sentence", () => {
  expect(split('Ask Dr. Who. Or "Mr. J. R. Smith" himself.')).toEqual([
    "Ask Dr. Who.",
    'Or "Mr. J. R. Smith" himself.',
  ]);
});

test("an abbreviation that can be last ends a sentence before a usual beginning", () => {
  expect(split("The U.S. Senate voted. I live on Main St. She left. So do I. Then we slept.")).toEqual([
    "The U.S. Senate voted.",
    "I live on Main St.",
    "She left.",
    "So do I.",
    "Then we slept.",
  ]);
  const whole = [
    "Washington, D.C. Mayor Smith met Apple Inc. CEO Cook on Martin Luther King Jr. Day at 9 a.m. Monday.",
    "Smith et al. (2020) and J. A. Smith agree.",
    "The U.S. All-Star team met Dr. No.",
    "The U.S. A-10 flew.",
  ];
  expect(split("It was 9 a.m. Everyone left the U.S. No one saw it.")).toHaveLength(3);
  expect(split("Open until 9 a.m. I-95 was closed.")).toEqual(["Open until 9 a.m.", "I-95 was closed."]);
  expect(whole.flatMap(split)).toEqual(whole);
});

test("an abbreviation that goes on does not end a sentence", () => {
  expect(split("See No. 5 on Jan. 3, Fig. 2 and pp. 3. Go on.")).toEqual([
    "See No. 5 on Jan. 3, Fig. 2 and pp. 3.",
    "Go on.",
  ]);
  expect(split("Tel. 555-1234")).toEqual(["Tel. 555-1234"]);
  expect(split("It takes max. 10 or min. 5. Go on.")).toEqual(["It takes max. 10 or min. 5.", "Go on."]);
  expect(split("J.K. Rowling wrote it. Cats vs. Dogs, e.g. Rex.")).toEqual([
    "J.K. Rowling wrote it.",
    "Cats vs. Dogs, e.g. Rex.",
  ]);
  expect(split("The U.S. has it. He left the U.S. She left at 5 P.M. We stay. It was in Dec. We left.")).toEqual([
    "The U.S. has it.",
    "He left the U.S.",
    "She left at 5 P.M.",
    "We stay.",
    "It was in Dec.",
    "We left.",
  ]);
});

test("a sentence without end is cut at marks, else between words, else anywhere but inside a character", () => {
  const clauses = split("and so on, ".repeat(500));
  expect(clauses.every((part) => part.length <= 400 && part.endsWith(","))).toBe(true);
  expect(clauses.join(" ")).toBe("and so on, ".repeat(500).trim());
  const small = split("written without capitals, and long. ".repeat(50));
  expect(small.every((part) => part.length <= 400 && part.endsWith("long."))).toBe(true);
  expect(split("word ".repeat(500)).every((part) => /^(word ?)+$/.test(part))).toBe(true);
  const emoji = split(`a${"😀".repeat(2000)}`);
  expect(emoji.join("")).toBe(`a${"😀".repeat(2000)}`);
  expect(emoji.every((part) => part.length <= 400 && part.isWellFormed())).toBe(true);
});
