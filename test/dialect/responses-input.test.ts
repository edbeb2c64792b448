// Items of the Responses API as turns: given, referred to, truncated, and in large numbers.

import { describe, expect, test } from "bun:test";
import type { OutputItem } from "../../src/contract/responses.ts";
import type { ContentPart } from "../../src/domain/generate.ts";
import { decodeInput } from "../../src/dialect/responses/input.ts";
import { OutputBuilder } from "../../src/dialect/responses/output.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { scripts } from "../contract/scripts.ts";
import { serve } from "../http/harness.ts";

const text = (text: string) => ({ type: "output_text" as const, text, annotations: [], logprobs: [] });
const call = (id: string, args: string, namespace?: string): OutputItem => ({
  id: `fc_${id}`,
  type: "function_call",
  call_id: `call_${id}`,
  name: "weather",
  ...(namespace !== undefined && { namespace }),
  arguments: args,
  status: "completed",
});
const output: readonly OutputItem[] = [
  { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "Both." }], status: "completed" },
  { id: "msg_1", type: "message", status: "completed", role: "assistant", content: [text("I"), text("look.")] },
  call("1", "{}"),
  call("2", '{"city": "Zü', "mcp"),
];
const stored = (id: string) => output.find((item) => item.id === id);
const references = output.map(({ id }) => ({ type: "item_reference", id }));
const nothing = () => undefined;

test("the detail original of an image means high", () => {
  const part = (detail: string) => ({ type: "input_image", image_url: "data:image/png;base64,AA", detail });
  const detailOf = (detail: string) => {
    const [turn] = decodeInput([{ role: "user", content: [part(detail)] }], nothing);
    return turn?.content;
  };
  expect(detailOf("original")).toMatchObject([{ source: { detail: "high" } }]);
  expect(detailOf("auto")).toMatchObject([{ source: { detail: "auto" } }]);
});

test("messages of other agents are turns of the user, without what is encrypted", () => {
  const encrypted = { type: "encrypted_content", encrypted_content: "x" };
  const from = { type: "agent_message", author: "/root/a", recipient: "/root" };
  const input = [
    { ...from, content: [{ type: "input_text", text: "It is done." }, encrypted] },
    { ...from, content: [encrypted] },
  ];
  expect(decodeInput(input, nothing)).toEqual([{ role: "user", content: "It is done." }]);
});

test("sound may be a URL", () => {
  const part = { type: "input_audio", audio_url: "data:audio/wav;base64,AA" };
  const [turn] = decodeInput([{ role: "user", content: [part] }], nothing);
  const source = { kind: "audio", data: part.audio_url };
  expect(turn?.content).toEqual([{ type: "media", source, param: "input.0.content.0.audio_url" } as ContentPart]);
});

test("sound has its format and its language", () => {
  const sound = { data: "AA", format: "mp3", language: "de" };
  const [turn] = decodeInput([{ role: "user", content: [{ type: "input_audio", input_audio: sound }] }], nothing);
  expect(turn?.content).toMatchObject([{ source: { kind: "audio", ...sound } }]);
});

test("a result may name its function instead of its call", () => {
  const result = { type: "function_call_output", namespace: "mcp", name: "weather", output: "rain" };
  expect(decodeInput([result], nothing)).toEqual([{ role: "tool", name: "mcp__weather", content: "rain" }]);
});

describe("references", () => {
  test("yield the same turns as the items themselves", () => {
    const turns = decodeInput(references, stored);
    expect(turns).toEqual(decodeInput([...output], nothing));
    expect(turns).toEqual([
      {
        role: "assistant",
        content: "I\nlook.",
        reasoning: "Both.",
        toolCalls: [
          { id: "call_1", name: "weather", arguments: "{}" },
          { id: "call_2", name: "mcp__weather", arguments: JSON.stringify('{"city": "Zü') },
        ],
      },
    ]);
    // Decoding does not change the stored items.
    expect(decodeInput(references, stored)).toEqual(turns);
  });

  test("can name items of stored responses", async () => {
    const server = serve(scripts["two-tool-calls"] as FakeScript);
    const asked = await (await server.post("/v1/responses", { input: "hi" })).json();
    const items = (asked as { readonly output: readonly OutputItem[] }).output;
    const question = { role: "user", content: "hi" };
    const named = items.map(({ id }) => ({ type: "item_reference", id }));
    for (const again of [items, named, items.map(({ id }) => ({ type: null, id })), [...named, ...named]]) {
      expect((await server.post("/v1/responses", { input: [question, ...again] })).status).toBe(200);
    }
    const [, inline, ...referred] = server.engine.requests;
    expect(inline?.messages[1]?.toolCalls).toHaveLength(2);
    expect(referred.map(({ messages }) => messages)).toEqual(Array(3).fill(inline?.messages));
  });

  test.each([{}, { type: null }])("may omit the type: %j", (without) => {
    const untyped = output.map(({ id }) => ({ ...without, id }));
    expect(decodeInput(untyped, stored)).toEqual(decodeInput(references, stored));
  });

  test("to items already referred to add nothing", () => {
    const again = [...references, ...references.toReversed(), ...output.map(({ id }) => ({ id }))];
    expect(decodeInput(again, stored)).toEqual(decodeInput(references, stored));
  });

  test("to items that are not stored are refused with their position", () => {
    const [reference] = references as [(typeof references)[number]];
    const refused = (code: string) => expect.objectContaining({ code, details: { param: "input.1.id" } });
    const decode = (...input: object[]) => decodeInput(input, stored);
    expect(() => decode(reference, { type: "item_reference", id: "msg_x" })).toThrow(refused("not_found"));
    expect(() => decode(reference, { type: null, id: "msg_x" })).toThrow(refused("not_found"));
    expect(() => decode(reference, { type: "item_reference" })).toThrow(refused("missing_required_parameter"));
    const untold = expect.objectContaining({ code: "missing_required_parameter", details: { param: "input.1.type" } });
    expect(() => decode(reference, {})).toThrow(untold);
  });
});

describe("reasoning", () => {
  const summary = (...texts: string[]) => texts.map((text) => ({ type: "summary_text", text }));
  const content = (...texts: string[]) => texts.map((text) => ({ type: "reasoning_text", text }));

  test.each<[string, object[], string | undefined]>([
    ["has the texts of its content", [{ summary: [], content: content("A", "B") }], "A\nB"],
    ["has them rather than those of its summary", [{ summary: summary("S"), content: content("A") }], "A"],
    ["has the summary without content", [{ summary: summary("S", "T"), content: null }], "S\nT"],
    ["has the summary when the content is empty", [{ summary: summary("S"), content: [] }], "S"],
    ["in a row is joined", [{ summary: summary("S") }, { content: content("A") }], "S\nA"],
    ["loses nothing to empty items", [{ content: content("A") }, { summary: [] }, { content: content("B") }], "A\nB"],
    ["that is not readable is left out", [{ summary: null, content: [null, {}, 5, { text: 5 }] }], undefined],
  ])("%s", (_, items, reasoning) => {
    const given = items.map((item) => ({ type: "reasoning", ...item }));
    expect(decodeInput([...given, { role: "assistant", content: "C" }], nothing)).toEqual([
      { role: "assistant", content: "C", ...(reasoning !== undefined && { reasoning }) },
    ]);
  });
});

test("a turn that was truncated inside a call is continued with its arguments as a JSON string", () => {
  const builder = new OutputBuilder(new Map(), () => {});
  for (const step of scripts["length-in-call"].steps) builder.add(step);
  expect(builder.items).toMatchObject([{ arguments: '{"city": "Zü' }]);
  expect(builder.message.toolCalls?.map(({ arguments: args }) => args)).toEqual([JSON.stringify('{"city": "Zü')]);
});

test("a million consecutive calls are decoded in linear time", () => {
  const item = call("1", "{}");
  const [turn, ...rest] = decodeInput(Array<object>(1e6).fill(item), nothing);
  expect(rest).toEqual([]);
  expect(turn?.toolCalls).toHaveLength(1e6);
}, 120_000);
