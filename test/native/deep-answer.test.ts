// Endlessly nested values, which a model may generate and a client may prefill: no stack may overflow.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ChatPrompt } from "../../ffi/llama/api.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { chat, library, load, prompt } from "./harness.ts";
import { readAnswer } from "./templates/reading.ts";
import { loadTemplate, missing } from "./templates/sources.ts";

let llama: NativeLlama;
beforeAll(async () => {
  llama = library();
  await load(llama);
});
afterAll(() => llama.unload());

const MILLION = 1_000_000;
const tools = [
  { type: "function", function: { name: "f", description: "", parameters: { type: "object", properties: { a: {} } } } },
];
const question = { role: "user", content: "Hi" };
const call = (values: string) => `<tool_call>{"name": "f", "arguments": {"a": ${values}`;
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

function read(text: string, changes: Partial<ChatPrompt> = {}, messages: readonly object[] = [question]) {
  const result = prompt(llama, chat(messages, { tools, ...changes }));
  const reading = readAnswer(llama, result, [Buffer.from(text)]);
  if (result.sampler !== undefined) llama.freeSampler(result.sampler);
  return reading;
}

const goOn = (content: string) => [question, { role: "assistant", content }];

describe("arguments of a call", () => {
  test("may have a hundred levels", () => {
    const { calls, failed } = read(`${call(nested(99))}}}</tool_call>`);
    expect(failed).toBe(false);
    expect(calls).toEqual([{ name: "f", arguments: `{"a": ${nested(99)}}` }]);
  });

  test("with a million levels are read only to the depth that values may have", () => {
    const { content, calls, failed } = read(`Sure. ${call("[".repeat(MILLION))}`);
    expect([content, failed, calls.length]).toEqual(["Sure. ", true, 1]);
    expect(calls[0]?.arguments.length).toBeLessThan(300);
  });

  test("with a million levels of objects are read only to that depth, too", () => {
    expect(read(call('{"b":'.repeat(MILLION))).failed).toBe(true);
  });

  test("are read the same when they arrive in pieces", () => {
    const text = `${call(nested(300))}}}</tool_call>`;
    const result = prompt(llama, chat([question], { tools }));
    const pieces = text.match(/[^]{1,7}/g)?.map((piece) => Buffer.from(piece)) ?? [];
    expect(readAnswer(llama, result, pieces)).toEqual(read(text));
    if (result.sampler !== undefined) llama.freeSampler(result.sampler);
  });
});

/** Returns what the parser reports for the rest of a call whose beginning the client gave. */
function continued(changes: Partial<ChatPrompt>): unknown {
  const { sampler } = prompt(llama, chat(goOn(call("[[[")), { tools, continueLast: true, ...changes }));
  if (sampler === undefined) throw new Error("no sampler was made");
  llama.pushAnswer(sampler, Buffer.from("1]]]}}</tool_call>"));
  const news = llama.readAnswer(sampler, true);
  llama.freeSampler(sampler);
  return news;
}

describe("an answer that continues the last message", () => {
  test("is text after a million levels", () => {
    const { content, calls } = read("so be it", { continueLast: true }, goOn(call("[".repeat(MILLION))));
    expect([content, calls]).toEqual(["so be it", []]);
  });

  test("continues the arguments after a few levels", () => {
    expect(continued({})).toEqual({ calls: [{ index: 0, arguments: "1]]]}" }] });
  });

  test("cannot be constrained after a million levels, because its grammar would hold all of them for each token", () => {
    const asked = { continueLast: true, toolChoice: "required" } as const;
    expect(() => read("", asked, goOn(call("[".repeat(MILLION))))).toThrow("the prefill nests too deep");
    expect(continued({ toolChoice: "required" })).toEqual({ calls: [{ index: 0, arguments: "1]]]}" }] });
  });
});

test("a prefill that an ambiguous schema can read in many ways is refused, and the next prompt is answered", () => {
  const list = (rest: object) => ({ type: "array", items: { $ref: "#/$defs/a" }, ...rest });
  const schema = { $defs: { a: { anyOf: [list({}), list({ minItems: 1 })] } }, $ref: "#/$defs/a" };
  const asked = { schema, continueLast: true } as const;
  const behind = (content: string) => prompt(llama, chat(goOn(content), asked)).sampler;
  expect(() => behind("[".repeat(40))).toThrow("the prefill can be read in too many ways");
  const sampler = behind("[[");
  expect(sampler).toBeNumber();
  if (sampler !== undefined) llama.freeSampler(sampler);
}, 60_000);

if (missing !== undefined) console.log(`skipped: ${missing}`);

/** Formats in which values are not JSON. */
const OTHERS = [
  ["LFM2", "LFM2.5-Instruct", "<|tool_call_start|>[f(a="],
  ["Gemma 4", "google-gemma-4-31B-it", "<|tool_call>call:f{a:"],
] as const;

describe.skipIf(missing !== undefined)("a million levels in other formats", () => {
  test.each(OTHERS)("%s", async (_, template, begin) => {
    llama.unload();
    await loadTemplate(llama, template);
    const { failed, calls } = read(`${begin}${"[".repeat(MILLION)}`);
    expect(failed).toBe(true);
    for (const { arguments: text } of calls) expect(text.length).toBeLessThan(300);
  });
});
