// Translating eSpeak's phonemes to Kokoro's, and splitting sentences into clauses.

import { expect, test } from "bun:test";
import { clausesOf, fromEspeak } from "../../src/speech/kokoro-alphabet.ts";

test.each([
  ["t^ʃˈe^ə d^ʒˈʌd^ʒ", "ʧˈɛː ʤˈʌʤ"],
  ["həlˈə^ʊ", "həlˈQ"],
  ["dˈi^ə", "dˈɪə"],
  ["ɡˈə^ʊɪŋ hˈa^ʊs bˈɔ^ɪ dˈe^ɪ", "ɡˈQɪŋ hˈWs bˈY dˈA"],
  ["bˈʌʔˌn\u0329 mˈɪdn\u0329", "bˈʌtᵊn mˈɪdᵊn"],
  [" (fr)bɔ̃(en-gb) \n lˈɒx ", "bɔ lˈɒk"],
])("British %p becomes %p", (written, meant) => expect(fromEspeak(written, true)).toBe(meant));

test.each([
  ["t^ʃˈao d^zˈinɡarɪ", "ʧˈao ʣˈinɡarɪ"],
  ["bɔ̃-ʒˈuʁ  mˈɔ̃d", "bɔ̃ʒˈuʁ mˈɔ̃d"],
  ["nˈo^ʊ (en)wˈə^ʊ(es)", "nˈO wˈQ"],
])("in other languages %p becomes %p", (written, meant) => expect(fromEspeak(written, false)).toBe(meant));

const clauses = (text: string): string =>
  clausesOf(text)
    .map(({ words, mark }) => words + mark)
    .join("|");

test.each([
  ["Hello, my friend: it costs 3.14... Really?", "Hello,|my friend:|it costs 3.14…|Really?"],
  ["“Yes!” he said — at 12:30 (noon).", "“Yes!|he said—|at 12:30 (noon)."],
  ["Bonjour le monde ! Ça va ?", "Bonjour le monde!|Ça va?"],
  ["नमस्ते, आप कैसे हैं।", "नमस्ते,|आप कैसे हैं."],
  ["a,b;c", "a,b;c"],
  ["no end", "no end"],
  ["… - 👋 !", ""],
])("%p is split into the clauses %p", (text, expected) => expect(clauses(text)).toBe(expected));

test("only the first of very many marks count, and no word is lost", () => {
  const found = clausesOf("ab, ".repeat(100));
  expect(found).toHaveLength(24);
  expect(
    found
      .map(({ words }) => words)
      .join(" ")
      .match(/ab/g),
  ).toHaveLength(100);
});
