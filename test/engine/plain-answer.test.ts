// An answer without a format: whole characters, cut at stop sequences, with the log probabilities of its tokens.

import { describe, expect, test } from "bun:test";
import type { OutputEvent } from "../../src/domain/generate.ts";
import type { TokenLogprob } from "../../src/domain/usage.ts";
import { PlainAnswer } from "../../src/engine/text/child/answer.ts";

const encoder = new TextEncoder();
const logprob = (token: string): TokenLogprob => ({ token, logprob: -1, bytes: [], top: [] });
const textIn = (events: readonly OutputEvent[]): string =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");
const tokensIn = (events: readonly OutputEvent[]): string[] =>
  events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : [])).map(({ token }) => token);

/** Pushes `text` cut at the given byte positions; returns everything released until a stop, or the end. */
function run(text: string | Uint8Array, stops: readonly string[], cuts: readonly number[]) {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const answer = new PlainAnswer(stops);
  const pieces: string[] = [];
  const tokens: string[] = [];
  const add = (events: readonly OutputEvent[]) => {
    pieces.push(textIn(events));
    tokens.push(...tokensIn(events));
  };
  let from = 0;
  for (const [index, to] of [...cuts, bytes.length].entries()) {
    add(answer.push(bytes.subarray(from, to), false, logprob(String(index))));
    from = to;
    if (answer.complete) break;
  }
  if (!answer.complete) add(answer.end());
  return { text: pieces.join(""), pieces, tokens, stopped: answer.complete };
}

let state = 7;
const random = (below: number) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % below;
const randomCuts = (length: number) =>
  Array.from({ length: random(8) }, () => random(length + 1)).sort((a, b) => a - b);

describe("characters", () => {
  test("are released whole, never as U+FFFD, when a token ends inside one", () => {
    const { pieces } = run("a\u{1F600}b", [], [2, 3, 4]);
    expect(pieces).toEqual(["a", "", "", "\u{1F600}b", ""]);
  });

  test("that are broken become U+FFFD, also at the very end", () => {
    expect(run(Uint8Array.of(0x61, 0xff, 0x62), [], [1, 2]).text).toBe("a\ufffdb");
    expect(run(Uint8Array.of(0x61, 0xf0, 0x9f), [], [2]).text).toBe("a\ufffd");
  });

  test("that mark the byte order are text like any other", () => {
    expect(run("\ufeffa", [], []).text).toBe("\ufeffa");
  });
});

describe("stop sequences", () => {
  test("are cut off with everything after them", () => {
    expect(run("one two three", ["two"], [])).toMatchObject({ text: "one ", stopped: true });
  });

  test("are found across tokens, and their beginnings are held back until then", () => {
    const { pieces, stopped } = run("Hello END", ["END"], [6, 7, 8]);
    expect([pieces, stopped]).toEqual([["Hello ", "", "", ""], true]);
  });

  test("hold text back only while it may still become one", () => {
    expect(run("a ENd", ["END"], [2, 3, 4]).pieces).toEqual(["a ", "", "", "ENd", ""]);
    expect(run("a EN", ["END"], [2, 3])).toMatchObject({ text: "a EN", stopped: false });
  });

  test("are matched at the earliest place, whatever their order in the list", () => {
    expect(run("xx<b>yy<a>", ["<a>", "<b>"], []).text).toBe("xx");
  });

  test("that overlap end the text where the first of them is complete, however the text is split", () => {
    for (const cuts of [[], [3], [1, 2, 3]]) expect(run("abcd", ["abcd", "bc"], cuts).text).toBe("a");
    for (const cuts of [[], [2], [1, 2]]) expect(run("abc", ["bc", "abc"], cuts).text).toBe("");
  });

  test("are found when they begin inside a failed match", () => {
    expect(run("aaab", ["aab"], [1, 2, 3]).text).toBe("a");
  });

  test("of several characters beyond ASCII are found", () => {
    expect(run("ja 終わり nein", ["終わり"], [4, 5, 7]).text).toBe("ja ");
  });

  test("give the same answer however the text is split", () => {
    const alphabet = ["a", "b", "ab", "é", "\u{1F600}", "END", "EN"];
    for (let round = 0; round < 500; round++) {
      const text = Array.from({ length: 1 + random(20) }, () => alphabet[random(alphabet.length)]).join("");
      const stops = [["END"], ["ab", "ba"], ["é\u{1F600}"], []][random(4)] as string[];
      const matches = stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0);
      const expected = matches.length > 0 ? text.slice(0, Math.min(...matches)) : text;
      const { text: got, stopped } = run(text, stops, randomCuts(encoder.encode(text).length));
      expect([got, stopped]).toEqual([expected, matches.length > 0]);
    }
  });
});

describe("log probabilities", () => {
  test("come with the text that ends their token", () => {
    const answer = new PlainAnswer(["END"]);
    expect(tokensIn(answer.push(encoder.encode("x"), false, logprob("x")))).toEqual(["x"]);
    expect(tokensIn(answer.push(encoder.encode("E"), false, logprob("E")))).toEqual([]);
    expect(tokensIn(answer.push(encoder.encode("y"), false, logprob("y")))).toEqual(["E", "y"]);
  });

  test("of tokens in a stop sequence are not reported", () => {
    expect(run("ab END", ["END"], [2, 3, 4]).tokens).toEqual(["0", "1"]);
  });

  test("of the parts of one character come together with that character", () => {
    expect(run("a\u{1F600}b", [], [1, 2, 4, 5]).tokens).toEqual(["0", "1", "2", "3", "4"]);
    const answer = new PlainAnswer([]);
    const bytes = encoder.encode("\u{1F600}");
    expect(tokensIn(answer.push(bytes.subarray(0, 2), false, logprob("1")))).toEqual([]);
    expect(tokensIn(answer.push(bytes.subarray(2), false, logprob("2")))).toEqual(["1", "2"]);
  });

  test("of tokens without text are not reported", () => {
    const answer = new PlainAnswer([]);
    expect(answer.push(new Uint8Array(), false, logprob("control"))).toEqual([]);
    expect(tokensIn(answer.push(encoder.encode("a"), false, logprob("a")))).toEqual(["a"]);
  });
});
