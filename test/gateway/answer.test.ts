// What an upstream's answer may contain.

import { describe, expect, test } from "bun:test";
import { RemoteAnswer } from "../../src/gateway/answer.ts";
import type { CallPiece, Piece } from "../../src/gateway/output.ts";

const open = (parallelToolCalls = true, { splitThinking = false, beginning = "", asksForJson = false } = {}) =>
  new RemoteAnswer({ splitThinking, beginning, parallelToolCalls, stop: [], counts: false, asksForJson });

test("call arguments can be as long as those of an agent that writes a large file, even one token at a time", () => {
  const answer = open();
  answer.add({ calls: [{ index: 0, id: "a", name: "write", arguments: '{"text":"' }] });
  const goOn = { calls: [{ index: 0, arguments: "word" }] };
  for (let token = 0; token < 200_000; token++) answer.add(goOn);
  answer.add({ calls: [{ index: 0, arguments: '"}' }], reason: "tool_calls" });
  expect(answer.isFinished).toBe(true);
});

test.each(["eos", "constructor"])("an unknown finish reason, such as %s, is a usual end", (reason) => {
  const answer = open();
  answer.add({ text: "Hi", reason });
  expect(answer.finish(undefined, { promptMs: 0, completionMs: 0 }).reason).toBe("stop");
});

test("joined messages count as many tokens as they are, however much of their text is shown", () => {
  const answer = open(true, { splitThinking: true });
  expect(answer.add({ text: "<think>so</think>Hi", count: 4 })).toEqual([
    { type: "reasoning", text: "so", sampled: 0 },
    { type: "text", text: "Hi", sampled: 4 },
  ]);
  expect(answer.tokens.completionTokens).toBe(4);
});

describe("several calls", () => {
  const f = { index: 0, id: "a", name: "f", arguments: "" };
  const g = { index: 1, id: "b", name: "g", arguments: "" };
  const more = (index: number, json: string): CallPiece => ({ index, arguments: json });

  /** Returns each call with the arguments that follow it, as the writers of most APIs read them. */
  const callsOf = (pieces: readonly CallPiece[], reason = "tool_calls", answer = open()) => {
    const events = pieces.flatMap((call) => answer.add({ calls: [call] }));
    // Nothing more is read of an answer that is cut.
    if (!answer.isCut) events.push(...answer.add({ reason }));
    const calls: string[] = [];
    for (const event of events) {
      if (event.type !== "tool_call" && event.type !== "tool_arguments") continue;
      const isFirst = event.type === "tool_call";
      expect(event.index).toBe(isFirst ? calls.length : calls.length - 1);
      if (isFirst) calls.push(event.name);
      else calls[event.index] += event.text;
    }
    return calls;
  };

  test("may be interleaved", () => {
    const pieces = [f, g, more(0, '{"x":'), more(1, '{"y":'), more(0, "1}"), more(1, "2}")];
    expect(callsOf(pieces)).toEqual(['f{"x":1}', 'g{"y":2}']);
    expect(callsOf([...pieces.slice(0, -2), more(1, "2}"), more(0, "1}"), more(0, "\n")])).toEqual([
      'f{"x":1}',
      'g{"y":2}',
    ]);
    // The end of the answer is that of a call whose arguments never end.
    expect(callsOf([f, g, more(0, '{"x":'), more(1, "{}")])).toEqual(['f{"x":', "g{}"]);
  });

  test("in turn come piece by piece, whatever is in their texts", () => {
    const answer = open();
    const newOf = (...calls: CallPiece[]) =>
      answer.add({ calls }).map((event) => (event.type === "tool_arguments" ? event.text : event.type));
    expect(newOf(f, more(0, '{"x":"{[\\'))).toEqual(["tool_call", '{"x":"{[\\']);
    expect(newOf(more(0, '"'))).toEqual(['"']);
    expect(newOf(more(0, '"}'))).toEqual(['"}']);
    expect(newOf(g, more(1, "{"))).toEqual(["tool_call", "{"]);
  });

  test("come in their order, whichever has its arguments first", () => {
    expect(callsOf([f, g, more(1, "{"), more(1, "}"), more(0, "{}")])).toEqual(["f{}", "g{}"]);
    expect(callsOf([f, { ...g, arguments: '{"y":2}' }])).toEqual(["f{}", 'g{"y":2}']);
  });

  test("continue by their number, whatever id the server invents for each piece", () => {
    const pieces = [
      f,
      { ...more(0, '{"x":'), id: "b" },
      { ...more(0, "1}"), id: "c" },
      g,
      { ...more(1, "{}"), id: "d" },
    ];
    expect(callsOf(pieces)).toEqual(['f{"x":1}', "g{}"]);
  });

  test("without numbers are continued by the pieces without a name", () => {
    const first = { name: "f", arguments: "" };
    const second = { id: "b", name: "f", arguments: '{"y":' };
    expect(callsOf([first, { arguments: '{"x":' }, { arguments: "1}" }, second, { id: "c", arguments: "2}" }])).toEqual(
      ['f{"x":1}', 'f{"y":2}'],
    );
  });

  test("without numbers end where the next begins, even if their arguments do not", () => {
    const answer = open();
    const newOf = (call: CallPiece) => answer.add({ calls: [call] }).map(({ type }) => type);
    newOf({ name: "f", arguments: '{"x":1' });
    expect(newOf({ name: "g", arguments: '{"y":' })).toEqual(["tool_call", "tool_arguments"]);
    expect(newOf({ arguments: "2}" })).toEqual(["tool_arguments"]);
  });

  test("are a failure where a piece belongs to none of them", () => {
    expect(() => callsOf([more(0, "{}")])).toThrow("had not begun");
    expect(() => callsOf([f, more(1, "{}")])).toThrow("had not begun");
  });

  test("are cut before the second where only one may be, and the first is kept", () => {
    const second = { ...g, arguments: "{}" };
    for (const pieces of [
      [f, more(0, '{"x":1}'), second],
      [f, g, more(0, '{"x":'), more(1, "{}"), more(0, "1}")],
      [f, second, more(0, '{"x":1}')],
    ]) {
      // What the server still sends is not read, not even that it aborts.
      expect(callsOf(pieces, "abort", open(false))).toEqual(['f{"x":1}']);
    }
    expect(callsOf([f, second], "tool_calls", open(false))).toEqual(["f{}"]);
  });

  test("have after them what came within them, so that nothing interrupts a call", () => {
    const answer = open();
    const shown = (piece: Piece) =>
      answer
        .add(piece)
        .map((event) => (event.type === "tool_call" ? event.name : "text" in event ? event.text : event.type));
    expect(shown({ text: "a" })).toEqual(["a"]);
    expect(shown({ calls: [{ ...f, arguments: '{"x":' }] })).toEqual(["f", '{"x":']);
    expect(shown({ text: "b", calls: [{ ...g, arguments: "{" }] })).toEqual([]);
    expect(shown({ reasoning: "c", logprobs: [{ token: "d", logprob: -1, bytes: [], top: [] }] })).toEqual([]);
    expect(shown({ calls: [more(0, "1}")] })).toEqual(["1}", "b", "c", "", "g", "{"]);
    expect(shown({ calls: [more(1, "}")] })).toEqual(["}"]);
    expect(shown({ text: "e" })).toEqual(["e"]);
    // The call is complete, so no client misses the rest.
    expect(shown({ calls: [more(1, "\n")] })).toEqual([]);
    expect(shown({ calls: [{ index: 2, id: "h", name: "h", arguments: "{" }] })).toEqual(["h", "{"]);
    expect(shown({ text: "i" })).toEqual([]);
    expect(shown({ reason: "length" })).toEqual(["i"]);
  });

  test.each(["length", "cancelled"])("lose nothing of what came within them when the answer ends there: %s", (end) => {
    const answer = open(true, { splitThinking: true });
    // Perhaps the beginning of a mark, and held back for that.
    expect(answer.add({ text: "<" })).toEqual([]);
    answer.add({ calls: [{ ...f, arguments: '{"x":' }] });
    const held = end === "length" ? [] : [...answer.add({ text: "a" }), ...answer.add({ text: "b" })];
    const rest = end === "length" ? answer.add({ reason: end }) : answer.takeHeld();
    expect(held).toEqual([]);
    const text = rest.map((event) => (event.type === "text" ? event.text : event.type)).join("");
    expect(text).toBe(end === "length" ? "<" : "<ab");
  });

  test("without numbers have what came within them before the next", () => {
    const answer = open();
    const types = (piece: Piece) => answer.add(piece).map(({ type }) => type);
    types({ calls: [{ name: "f", arguments: '{"x":1' }] });
    expect(types({ text: "a" })).toEqual([]);
    expect(types({ calls: [{ name: "g", arguments: "{}" }] })).toEqual(["text", "tool_call", "tool_arguments"]);
  });

  test("without the last where the answer was cut off before its arguments", () => {
    expect(callsOf([f, more(0, "{}"), g], "length")).toEqual(["f{}"]);
  });
});

describe("text that is held back at the beginning", () => {
  /** Returns the text of an answer whose tokens are these pieces, and the text as its log probabilities have it. */
  const textsOf = (tokens: readonly string[], options: { splitThinking?: boolean; beginning?: string }) => {
    const answer = open(true, options);
    const events = tokens.flatMap((text) => {
      const logprobs = [{ token: text, logprob: -1, bytes: [], top: [] }];
      // An incomplete character has no text yet.
      return answer.add({ ...(text !== "\ufffd" && { text }), logprobs });
    });
    const texts = [...events, ...answer.add({ reason: "stop" })].filter((event) => event.type === "text");
    const tokensOf = texts.flatMap(({ logprobs = [] }) => logprobs.map(({ token }) => token));
    return [texts.map(({ text }) => text).join(""), tokensOf.join("")];
  };

  test.each([
    [["<", "div", ">"], "<div>", "<div>"],
    [["\n", "\n", "Hi"], "\n\nHi", "\n\nHi"],
    [["\n", "\ufffd", "Hi"], "\nHi", "\n\ufffdHi"],
    [["<", "thi"], "<thi", "<thi"],
    [["\n<", "think>", "hm", "</", "think>", "\n", "\ufffd", "Hi", "!"], "Hi!", "\ufffdHi!"],
    [["<", "think></think>", "Hi"], "Hi", "Hi"],
    [["<think>", "hm"], "", ""],
  ])("for a tag keeps its log probabilities, and reasoning has none: %j", (tokens, text, logprobs) => {
    expect(textsOf(tokens, { splitThinking: true })).toEqual([text, logprobs]);
  });

  test.each([
    [["The", " cap", "ital", " of"], " of", " of"],
    [["The", " cat"], "The cat", "The cat"],
    [["The"], "The", "The"],
  ])("for a repeated prefill, too: %j", (tokens, text, logprobs) => {
    expect(textsOf(tokens, { beginning: "The capital" })).toEqual([text, logprobs]);
  });
});
