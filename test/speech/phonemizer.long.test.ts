// The longest texts there can be, to the reader of the voice.

import { expect, test } from "bun:test";
import { builtPhonemizer } from "./built-voice.ts";

const reader = await builtPhonemizer();
if (reader === undefined)
  console.log("the reader of texts is not tested: the build left out the voice (see its output)");

test.skipIf(!reader)("as many characters as a request may have, without order, are read to their end", async () => {
  const fill = (text: string): string => text.repeat(Math.ceil(33_000 / text.length)).slice(0, 33_000);
  const texts = [
    "111,",
    "(",
    ". ",
    ".)",
    "1.1",
    "[",
    "\ud800",
    "\n ",
    "$1,",
    "U.S.",
    "a_",
    "hello ",
    "-",
    "😀",
    "٣",
    "1 - ",
    "1,2,",
  ];
  for (const text of texts) {
    expect(reader?.sentences(fill(text)).every((sentence) => sentence.length <= 400)).toBe(true);
    expect(typeof (await reader?.phonemes(fill(text)))).toBe("string");
  }
});
