// Answers from a scripted parser: which events they emit, in which order, and what they never emit.

import { describe, expect, test } from "bun:test";
import type { AnswerUpdate } from "../../ffi/llama/api.ts";
import type { OutputEvent } from "../../src/domain/generate.ts";
import { ParsedAnswer, PlainAnswer, type ParsedAnswerOptions } from "../../src/engine/text/child/answer.ts";

const bytes = new TextEncoder().encode("x");
const logprobOf = (token: string, of: Uint8Array) => ({ token, logprob: -1, bytes: [...of], top: [] });

/** Returns an answer whose parser yields one entry for each token, and `last` at the end. */
function scripted(news: (AnswerUpdate | undefined)[], last?: AnswerUpdate, changes: Partial<ParsedAnswerOptions> = {}) {
  const parser = { push: () => {}, read: (final: boolean) => (final ? last : news.shift()) };
  const options = {
    stops: [],
    tools: ["f", "g"],
    thinkingEnds: [],
    parallelToolCalls: true,
    now: () => 0,
    readers: () => 1,
    ...changes,
  };
  const answer = new ParsedAnswer(parser, options);
  const play = (whole: boolean) => {
    const events: OutputEvent[] = [];
    while (news.length > 0 && !answer.complete) events.push(...answer.push(bytes, false));
    return [...events, ...answer.end(whole)];
  };
  return { answer, play };
}

const call = (index: number, name: string, args = "") => ({ calls: [{ index, name, id: "", arguments: args }] });
const args = (index: number, text: string) => ({ calls: [{ index, arguments: text }] });
const joined = (events: readonly OutputEvent[], type: "text" | "reasoning") =>
  events.map((event) => (event.type === type ? event.text : "")).join("");
const argumentsOf = (events: readonly OutputEvent[], index: number) =>
  events.map((event) => (event.type === "tool_arguments" && event.index === index ? event.text : "")).join("");

describe("a parsed answer", () => {
  test("turns reasoning, text and calls into events, and creates ids when the format has none", () => {
    const { play, answer } = scripted([
      { reasoning: "hm" },
      { content: "Let me see" },
      call(0, "f", "{"),
      args(0, "}"),
    ]);
    const events = play(true);
    expect(events).toMatchObject([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "Let me see" },
      { type: "tool_call", index: 0, name: "f" },
      { type: "tool_arguments", index: 0, text: "{" },
      { type: "tool_arguments", index: 0, text: "}" },
    ]);
    expect(events[2]).toMatchObject({ id: expect.stringMatching(/^call_[0-9a-f]{24}$/) });
    expect(answer.called).toBe(true);
  });

  test("drops white space before a call and keeps it before text", () => {
    expect(joined(scripted([{ content: "\n\n" }, call(0, "f", "{}")]).play(true), "text")).toBe("");
    expect(joined(scripted([{ content: "\n\n" }, { content: "x" }]).play(true), "text")).toBe("\n\nx");
    expect(joined(scripted([{ content: "\n\n" }]).play(true), "text")).toBe("\n\n");
  });

  test("closes an open call when the turn ends, and leaves it open at the token limit", () => {
    const news = () => [call(0, "f", '{"a": "x')];
    expect(argumentsOf(scripted(news()).play(true), 0)).toBe('{"a": "x"}');
    expect(argumentsOf(scripted(news()).play(false), 0)).toBe('{"a": "x');
    expect(argumentsOf(scripted([call(0, "f")]).play(true), 0)).toBe("{}");
    const two = scripted([call(0, "f", '{"a": 1'), call(1, "g", "{}")]).play(true);
    expect([argumentsOf(two, 0), argumentsOf(two, 1)]).toEqual(['{"a": 1}', "{}"]);
  });

  test("completes a call before what follows it", () => {
    const parts = (events: readonly OutputEvent[]) =>
      events.map((event) => ("text" in event ? [event.type, event.text] : [event.type]));
    const begun = { content: "Let me see.", ...call(0, "f", '{"a":1') };
    const followed = scripted([begun, { content: " So.", ...args(0, "}") }]).play(true);
    expect(parts(followed)).toEqual([
      ["text", "Let me see."],
      ["tool_call"],
      ["tool_arguments", '{"a":1'],
      ["tool_arguments", "}"],
      ["text", " So."],
    ]);
    const between = scripted([
      begun,
      { content: " And.", calls: [...args(0, "}").calls, ...call(1, "g", "{}").calls] },
    ]);
    expect(parts(between.play(true)).slice(3)).toEqual([
      ["tool_arguments", "}"],
      ["text", " And."],
      ["tool_call"],
      ["tool_arguments", "{}"],
    ]);
    const held = scripted([{ content: "See.\n" }, call(0, "f", '{"a":1')], undefined, { stops: ["\nUser:"] }).play(
      true,
    );
    expect(parts(held)).toEqual([
      ["text", "See."],
      ["tool_call"],
      ["tool_arguments", '{"a":1'],
      ["tool_arguments", "}"],
      ["text", "\n"],
    ]);
  });

  test("ends at the second call, without emitting it, when parallel calls are off", () => {
    const { play, answer } = scripted([call(0, "f", "{}"), call(1, "g", "{}"), { content: "never" }], undefined, {
      parallelToolCalls: false,
    });
    const events = play(true);
    expect(events.filter((event) => event.type === "tool_call").length).toBe(1);
    expect(joined(events, "text")).toBe("");
    expect(answer.complete).toBe(true);
  });

  test("applies stop sequences to the text only, even across pieces", () => {
    const { play, answer } = scripted([{ reasoning: "END" }, { content: "one E" }, { content: "ND two" }], undefined, {
      stops: ["END"],
    });
    const events = play(true);
    expect([joined(events, "reasoning"), joined(events, "text"), answer.complete]).toEqual(["END", "one ", true]);
  });

  test("emits the start of a possible stop sequence as text at the end", () => {
    expect(joined(scripted([{ content: "one E" }], undefined, { stops: ["END"] }).play(true), "text")).toBe("one E");
  });

  test("emits text that the format does not recognize at the end", () => {
    const events = scripted([undefined], { content: "<tool_call>nonsense", failed: true }).play(true);
    expect(joined(events, "text")).toBe("<tool_call>nonsense");
  });

  test("counts as reasoning all tokens before the answer, including markup", () => {
    // <think> · a · b · </think> · x · y
    const { play, answer } = scripted([undefined, { reasoning: "a" }, { reasoning: "b" }, undefined, { content: "x" }]);
    play(true);
    expect(answer.reasoningTokens).toBe(4);
    const unfinished = scripted([undefined, { reasoning: "a" }, undefined]);
    unfinished.play(false);
    expect(unfinished.answer.reasoningTokens).toBe(3);
    const none = scripted([{ content: "x" }, { content: "y" }]);
    none.play(true);
    expect(none.answer.reasoningTokens).toBe(0);
  });

  test("reports log probabilities for the tokens of the text, however long the text was held back", () => {
    const news = [undefined, { reasoning: "a" }, undefined, { content: "x E" }, { content: "N" }, { content: "y" }];
    const { answer } = scripted([...news], undefined, { stops: ["END"] });
    const texts = ["<a>", "a", "</a>", "x E", "N", "y"];
    const events = texts.flatMap((text, index) =>
      answer.push(Buffer.from(text), false, logprobOf(String(index), Buffer.from(text))),
    );
    events.push(...answer.end(true));
    const told = events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
    expect(joined(events, "text")).toBe("x ENy");
    expect(told.map(({ token }) => token)).toEqual(["3", "4", "5"]);
  });

  test("limits reading to a small share of the time: after a slow read it waits, and later catches up", () => {
    let clock = 0;
    let read = 0;
    const news: AnswerUpdate[] = [{ content: "a" }, { content: "b" }, { content: "c" }];
    const parser = {
      push: () => {},
      read: () => {
        read++;
        clock += 10;
        return news.shift();
      },
    };
    const answer = new ParsedAnswer(parser, {
      stops: [],
      tools: [],
      thinkingEnds: [],
      parallelToolCalls: true,
      now: () => clock,
      readers: () => 1,
    });
    const events = Array.from({ length: 20 }, () => {
      clock += 5;
      return answer.push(bytes, false);
    }).flat();
    expect([read, joined(events, "text")]).toEqual([2, "ab"]);
    expect(joined(answer.end(true), "text")).toBe("c");
  });

  test("stops at its stop sequence also right after a read in which another program had its turn", () => {
    let [clock, text, shown] = [0, "", 0];
    const parser = {
      push: (piece: Uint8Array) => void (text += Buffer.from(piece).toString()),
      read: (): AnswerUpdate => {
        clock += text === "The capital" ? 20 : 0.1;
        const content = text.slice(shown);
        shown = text.length;
        return { content };
      },
    };
    const answer = new ParsedAnswer(parser, {
      stops: ["France"],
      tools: [],
      thinkingEnds: [],
      parallelToolCalls: true,
      now: () => clock,
      readers: () => 1,
    });
    const tokens = ["The", " capital", " of", " France", " is", " Paris", "."];
    const count = tokens.findIndex((token) => {
      clock += 5;
      answer.push(Buffer.from(token), false);
      return answer.complete;
    });
    expect([count, answer.stopSequence]).toEqual([3, "France"]);
  });

  test("and many others together are read for a small share of the time", () => {
    let [clock, reading] = [0, 0];
    const parser = {
      push: () => {},
      read: () => {
        clock++;
        reading++;
        return { content: "a" };
      },
    };
    const options = { stops: [], tools: [], thinkingEnds: [], parallelToolCalls: true, now: () => clock };
    const count = 32;
    const answers = Array.from({ length: count }, () => new ParsedAnswer(parser, { ...options, readers: () => count }));
    for (let step = 0; step < 1000; step++) {
      clock += 10;
      for (const answer of answers) answer.push(bytes, false);
    }
    expect(reading / clock).toBeLessThan(0.11);
  });

  test("is read once for several tokens that come together, also in reasoning, and counts them all", () => {
    const texts = ["<think>", ..."abcdefgh", "</think>", ..."xyz"];
    let [text, shown, reads] = ["", 0, 0];
    const parser = {
      push: (piece: Uint8Array) => void (text += Buffer.from(piece).toString()),
      read: (): AnswerUpdate | undefined => {
        reads++;
        const [reasoning = "", content = ""] = text.slice("<think>".length).split("</think>");
        const fresh = { reasoning: reasoning.slice(shown), content };
        shown = reasoning.length;
        if (content !== "") return { content: content.slice(-1) };
        return fresh.reasoning === "" ? undefined : { reasoning: fresh.reasoning };
      },
    };
    const answer = new ParsedAnswer(parser, {
      stops: [],
      tools: [],
      thinkingEnds: ["</think>"],
      parallelToolCalls: true,
      now: () => 0,
      readers: () => 1,
    });
    const events = texts.flatMap((piece, at) => answer.push(Buffer.from(piece), at % 4 !== 0));
    expect([joined(events, "reasoning"), answer.reasoningTokens]).toEqual(["abcdefgh", 10]);
    expect(reads).toBeLessThan(9);
  });
});

describe("a parser that reads slowly", () => {
  const STOP = "OBSERVATION";

  /** Splits an answer as a format with <think> and <call> does. */
  function parsed(text: string) {
    const [, reasoning = "", said = ""] = /^(?:<think>([^<]*)(?:<$|<\/[a-z]*$|<\/think>)?)?([^]*)$/.exec(text) ?? [];
    const [content = "", json] = said.split("<call>");
    return { reasoning, content: content.replace(/<[a-z]*$/, ""), json };
  }

  /**
   * Feeds tokens to such a parser, with log probabilities if requested; `seen`: how much of an answer of this length it
   * has parsed.
   */
  function write(
    tokens: readonly (string | Uint8Array)[],
    { logprobs = false, ...changes }: Partial<ParsedAnswerOptions> & { readonly logprobs?: boolean } = {},
    seen = (length: number) => length,
  ) {
    let [clock, reads, count] = [0, 0, 0];
    let text = Buffer.alloc(0);
    const told = { reasoning: 0, content: 0, json: 0 };
    const parser = {
      push: (piece: Uint8Array) => void (text = Buffer.concat([text, piece])),
      read: (final: boolean): AnswerUpdate | undefined => {
        reads++;
        clock += 10;
        // Like the real parser, it leaves out a character that is not whole.
        const whole = text.toString().replace(/\ufffd+$/, "");
        const { reasoning, content, json } = parsed(final ? whole : whole.slice(0, seen(whole.length)));
        const called = told.json > 0;
        const fresh = {
          reasoning: reasoning.slice(told.reasoning),
          content: content.slice(told.content),
          json: json?.slice(told.json) ?? "",
        };
        for (const part of ["reasoning", "content", "json"] as const) told[part] += fresh[part].length;
        if (Object.values(fresh).every((part) => part === "")) return undefined;
        const call = { index: 0, ...(!called && { name: "e", id: "" }), arguments: fresh.json };
        return {
          ...(fresh.reasoning !== "" && { reasoning: fresh.reasoning }),
          ...(fresh.content !== "" && { content: fresh.content }),
          ...(fresh.json !== "" && { calls: [call] }),
        };
      },
    };
    const answer = new ParsedAnswer(parser, {
      stops: [STOP],
      tools: [],
      thinkingEnds: ["</think>"],
      parallelToolCalls: true,
      now: () => clock,
      readers: () => 1,
      ...changes,
    });
    const events: OutputEvent[] = [];
    for (const token of tokens.map((one) => (typeof one === "string" ? Buffer.from(one) : one))) {
      if (answer.complete) break;
      clock += 5;
      count++;
      events.push(...answer.push(token, false, logprobs ? logprobOf(String(count - 1), token) : undefined));
    }
    events.push(...answer.end(true));
    return { reads, count, events, text: joined(events, "text"), stop: answer.stopSequence };
  }

  const words = Array.from({ length: 5000 }, (_, at) => (at % 7 === 0 ? "OBSERVE " : "on "));

  test.each([
    ["when the stop sequence never comes", {}],
    ["when the only tool that may be called has a name of one letter", { parallelToolCalls: false, tools: ["V"] }],
    ["with log probabilities", { logprobs: true }],
  ])("reads few of 5,000 tokens %s", (_, changes) => {
    const { reads, text } = write(words, changes);
    expect(text).toBe(words.join(""));
    expect(reads).toBeLessThan(250);
  });

  test("reads few tokens of reasoning that is full of the stop sequence, and stops in the text", () => {
    const { reads, events, text, stop } = write(["<think>", ...words, "</think>", "yes", " on"], { stops: ["on"] });
    expect([joined(events, "reasoning"), text, stop]).toEqual([words.join(""), "yes ", "on"]);
    expect(reads).toBeLessThan(250);
  });

  test("reads few tokens of a call that is full of the stop sequence", () => {
    const { reads, events } = write(["<call>", '{"a":"', ...words, '"}'], { stops: ["on"], tools: ["e"] });
    expect(argumentsOf(events, 0)).toBe(`{"a":"${words.join("")}"}`);
    expect(reads).toBeLessThan(1000);
  });

  test("reports the log probabilities of the text's tokens, also when it reads several at once", () => {
    const [first = 0, second = 0] = Buffer.from("ü");
    const said = ["Yes", " on ", Buffer.from([first]), Buffer.from([second]), ...words.slice(0, 100)];
    const { events, text } = write(["<think>", ...words, "</think>", ...said, "<call>", "{", "}"], {
      logprobs: true,
      tools: ["e"],
    });
    const told = events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
    expect(text).toBe(`Yes on ü${words.slice(0, 100).join("")}`);
    expect(told.map(({ token }) => token)).toEqual(said.map((_, at) => String(5002 + at)));
  });

  test("tells a short text after reasoning from the markup around it", () => {
    const all = ["<think>", "hm", "</think>", "Yes", ".", "<call>", "{", "}"];
    const { events } = write(all, { logprobs: true, tools: ["e"], thinkingEnds: [] }, (length) =>
      length < all.join("").length ? 9 : length,
    );
    const told = events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
    expect(told.map(({ token }) => token)).toEqual(["3", "4"]);
  });

  test("drops the log probabilities of tokens behind a stop sequence that it reads late", () => {
    const { events, text } = write(["one ", "two ", "OBSER", "VATION", "three"], { logprobs: true }, (length) =>
      length < 20 ? 0 : length,
    );
    const told = events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
    expect([text, told.map(({ token }) => token)]).toEqual(["one two ", ["0", "1"]]);
  });

  const before = "so it goes ".repeat(40);
  const stopped = before.length + STOP.length;
  const tokens = [...`${before}${STOP}: ${"and on ".repeat(200)}`];
  /** Tokens that are sampled while the parser waits, after a read of 10 ms. */
  const LATE = 8;

  test.each([0, 30, 200])("stops soon when the parser emits the stop sequence %i bytes late", (late) => {
    const { count, text, stop } = write(tokens, {}, (length) => Math.max(0, length - late));
    expect([text, stop]).toEqual([before, STOP]);
    expect(count - stopped - late).toBeWithin(0, LATE + 1);
  });

  test("keeps reading while the parser holds back what it has read", () => {
    const seen = (length: number) => (length < stopped + 900 ? Math.min(length, 400) : length);
    const { count, stop } = write(tokens, {}, seen);
    expect(stop).toBe(STOP);
    expect(count - stopped - 900).toBeWithin(0, LATE + 1);
  });
});

test("a plain answer is its text, cut at stop sequences", () => {
  const answer = new PlainAnswer(["b"]);
  const events = ["a", "b", "c"].flatMap((text) =>
    answer.complete ? [] : answer.push(new TextEncoder().encode(text), false),
  );
  expect([joined([...events, ...answer.end()], "text"), answer.complete]).toEqual(["a", true]);
});
