// Messages that the reader recognizes without parsing yield the same as if they were parsed.

import { expect, test } from "bun:test";
import { ChunkReader } from "../../src/gateway/chunk-reader.ts";
import { decodeLine } from "../../src/gateway/ollama/decode-line.ts";
import { decodeChunk } from "../../src/gateway/openai/decode-chunk.ts";
import type { Piece } from "../../src/gateway/output.ts";

const chunk = (delta: object, more: object = {}) =>
  JSON.stringify({ id: "x", created: 1, choices: [{ index: 0, delta, finish_reason: null, ...more }] });

const TEXTS = [" a", "b", "", "x", "content", "index", ",", '"', "\\", "\n", "\t\u0000", "é", "😀", '","x":"', "null"];

/** Kinds of messages, each a function of one text. */
const FORMS: Record<string, (text: string) => string> = {
  text: (content) => chunk({ content }),
  "text with a role": (content) => chunk({ role: "assistant", content }),
  // JSON as Python writes it.
  "text with spaces": (content) => chunk({ content }).replaceAll('":', '": ').replaceAll(',"', ', "'),
  "text with other numbers": (content) => chunk({ content }).replace('"created":1', `"created":${content.length}`),
  "raw text": (text) => JSON.stringify({ choices: [{ index: 0, text, logprobs: null }] }),
  "text in two places": (content) => chunk({ content }, { text: content }),
  "text and the same name": (content) => JSON.stringify({ id: content, choices: [{ delta: { content } }] }),
  "another name, and text": (id) => JSON.stringify({ id, choices: [{ delta: { content: "x" } }] }),
  "another name, and escaped text": (id) => `{"id":${JSON.stringify(id)},"choices":[{"delta":{"content":"\\u0062"}}]}`,
  "a key twice": (text) => `{"choices":[{"delta":{"content":"a","content":${JSON.stringify(text)}}}]}`,
  reasoning: (reasoning) => chunk({ reasoning }),
  "reasoning by two names": (reasoning) => chunk({ reasoning, reasoning_content: reasoning }),
  "reasoning and text": (content) => chunk({ reasoning: "hm", content }),
  "text and the end": (content) => chunk({ content }, { finish_reason: "ab" }),
  "text and a call": (content) => chunk({ content, tool_calls: [{ index: 0, id: "1", function: { name: "f" } }] }),
  "text and its probability": (content) => chunk({ content }, { logprobs: { content: [{ token: "t", logprob: -1 }] } }),
  "text and counts": (content) => JSON.stringify({ choices: [{ delta: { content } }], usage: { prompt_tokens: 1 } }),
};

test.each(Object.entries(FORMS))("%s, after a message of any kind", (_, form) => {
  const others = Object.values(FORMS).flatMap((other) => TEXTS.map(other));
  for (const second of TEXTS.map(form)) {
    const pieces = others.map((first) => {
      const reader = new ChunkReader(decodeChunk);
      reader.read(first);
      return reader.read(second);
    });
    const said = decodeChunk(JSON.parse(second));
    expect(pieces.filter((piece) => !Bun.deepEquals(piece, said))).toEqual([]);
  }
});

test("lines of Ollama yield the same as if they were parsed", () => {
  const reader = new ChunkReader(decodeLine);
  for (const content of TEXTS) {
    const line = { model: "far", message: { role: "assistant", content }, done: false };
    expect(reader.read(JSON.stringify(line))).toEqual(decodeLine(line));
  }
});

test("a message like the last one but malformed is refused, and one with an error is reported", () => {
  const reader = new ChunkReader(decodeChunk);
  const usual = chunk({ content: "a" });
  reader.read(usual);
  expect(() => reader.read(usual.replace('"a"', '"a"b"'))).toThrow("not JSON");
  expect(() => reader.read(usual.replace('"a"', '"\n"'))).toThrow("not JSON");
  expect(() => reader.read(usual.slice(0, -1))).toThrow("not JSON");
  expect(() => reader.read(usual.replace('"choices"', '"error":{"message":"died"},"choices"'))).toThrow("failed");
  expect(reader.read(usual)).toEqual({ text: "a" });
});

test("messages that differ only in their text are parsed once", () => {
  let decoded = 0;
  const reader = new ChunkReader((message) => {
    decoded++;
    return decodeChunk(message);
  });
  for (let at = 0; at < 100; at++) reader.read(chunk({ content: ` ${at}` }));
  expect(decoded).toBe(1);
});

test("joined text is that of the messages, in order, and counts each", () => {
  const messages = Object.values(FORMS).flatMap((form) => ["a", " b", '"', "c", "d"].map((text) => form(text)));
  const alone = new ChunkReader(decodeChunk);
  const single = messages.map((json) => alone.read(json) as Piece);
  const joined = [...new ChunkReader(decodeChunk).readJoined(messages)] as Piece[];
  expect(joined.length).toBeLessThan(messages.length);
  for (const { count = 1, ...piece } of joined) {
    const parts = single.splice(0, count);
    const textOf = (kind: "text" | "reasoning") => parts.map((part) => part[kind] ?? "").join("");
    expect([piece.text ?? "", piece.reasoning ?? ""]).toEqual([textOf("text"), textOf("reasoning")]);
    if (count === 1) expect([piece]).toEqual(parts);
  }
  expect(single).toEqual([]);
});

const TOKENS = Array.from({ length: 1000 }, (_, at) => `${at}é `);
const content = TOKENS.join("");
const token = (name: string) => ({
  token: name,
  logprob: -1,
  top_logprobs: [0, 1, 2].map((other) => ({ token: `${name}${other}`, logprob: -2 })),
});
const end = { finish_reason: "stop" };
const usage = { prompt_tokens: 1, completion_tokens: 1000 };
const calls = [{ index: 0, id: "1", function: { name: "f", arguments: "{}" } }];
const lists = {
  tokens: TOKENS,
  token_logprobs: TOKENS.map(() => -1),
  top_logprobs: TOKENS.map((name) => ({ [name]: -1, x: -2 })),
};

test.each([
  [
    "a chat",
    decodeChunk,
    { choices: [{ message: { content, tool_calls: calls }, logprobs: { content: TOKENS.map(token) }, ...end }], usage },
  ],
  ["a text completion", decodeChunk, { choices: [{ text: content, logprobs: lists, ...end }], usage }],
  [
    "an answer of Ollama",
    decodeLine,
    { message: { content, thinking: "hm" }, logprobs: TOKENS.map(token), done: true },
  ],
  [
    "a chat whose tokens are not its text",
    decodeChunk,
    {
      choices: [{ message: { content: `${content.slice(3000)}?` }, logprobs: { content: TOKENS.map(token) }, ...end }],
    },
  ],
] as const)(
  "the log probabilities of a whole answer come a few at a time, each with its text: %s",
  async (_, decode, answer) => {
    const read = new ChunkReader(decode).read(JSON.stringify({ ...answer, filler: "x".repeat(2 ** 16) }));
    if (!(Symbol.asyncIterator in read)) throw new Error("the message is long");
    const pieces = await Array.fromAsync(read);
    const whole = decode(answer);
    const tokens = pieces.flatMap(({ logprobs = [] }) => logprobs);
    expect(tokens).toEqual([...(whole.logprobs ?? [])]);
    expect(pieces.map(({ text = "" }) => text).join("")).toBe(whole.text ?? "");
    expect(Math.max(...pieces.map(({ logprobs = [] }) => logprobs.length))).toBeLessThan(300);
    const { text: _text, logprobs: _logprobs, reasoning, ...rest } = whole;
    expect(pieces.at(-1)).toMatchObject(rest);
    expect(pieces.find((piece) => piece.reasoning !== undefined)?.reasoning).toBe(reasoning);
    for (const { text, logprobs } of whole.text === content ? pieces.filter((piece) => piece.text) : []) {
      expect(logprobs?.map((one) => one.token).join("")).toBe(text);
    }
  },
);
