// A constraint on the answer has the same effect under every field name that clients use for it.

import { describe, expect, test } from "bun:test";
import { decodeChat } from "../../src/dialect/chat/decode.ts";
import type { GenerationSettings } from "../../src/dialect/fields/settings.ts";
import { decodeCompletion } from "../../src/dialect/completions/decode.ts";
import { choiceGrammar, regexGrammar } from "../../src/json-schema/regex-grammar.ts";
import { hello, serve } from "../http/harness.ts";
import { settings } from "../support/generation-settings.ts";
import { thrown } from "../support/thrown.ts";

const chat = (fields: object, overrides: Partial<GenerationSettings> = {}) =>
  decodeChat({ messages: [{ role: "user", content: "hi" }], ...fields }, { ...settings, ...overrides }).request;
const completion = (fields: object) => decodeCompletion({ prompt: "a", ...fields }, settings).requests[0];

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const usual = chat({ response_format: { type: "json_schema", json_schema: { schema } } }).constraint;

describe("a schema", () => {
  test.each([
    { response_format: { type: "json_object", schema } },
    { response_format: { type: "json_schema", schema } },
    { json_schema: schema },
    { guided_json: schema },
    { guided_json: JSON.stringify(schema) },
    { structured_outputs: { json: schema } },
    { structured_outputs: { json: JSON.stringify(schema) } },
  ])("%j", (fields) => {
    expect(chat(fields).constraint).toEqual(usual);
    expect(completion(fields).constraint).toEqual(usual);
  });

  test("may have strict as text, as in LM Studio's example", () => {
    const format = (strict: unknown) => ({ type: "json_schema", json_schema: { name: "x", schema, strict } });
    expect(chat({ response_format: format("true") }).constraint?.strict).toBe(true);
    expect(chat({ response_format: format("false") }).constraint?.strict).toBe(false);
  });

  test("json_object of structured_outputs means any object, and false means no constraint", () => {
    expect(chat({ structured_outputs: { json_object: true } }).constraint?.schema).toMatchObject({ type: "object" });
    expect(chat({ structured_outputs: { json_object: false } }).constraint).toBeUndefined();
  });

  test("of the request, under any field name, has priority over that of the launch option", () => {
    const guidedJson = { type: "object", properties: { other: { type: "number" } } };
    expect(chat({ guided_json: schema }, { guidedJson }).constraint).toEqual(usual);
    expect(chat({}, { guidedJson }).constraint).not.toEqual(usual);
  });
});

describe("a grammar", () => {
  const grammar = 'root ::= "x"';
  test.each([
    [{ grammar }, grammar],
    [{ guided_grammar: grammar }, grammar],
    [{ ebnf: grammar }, grammar],
    [{ structured_outputs: { grammar } }, grammar],
    [{ response_format: { type: "grammar", grammar } }, grammar],
    [{ guided_choice: ["yes", "no"] }, choiceGrammar(["yes", "no"])],
    [{ structured_outputs: { choice: ["yes", "no"] } }, choiceGrammar(["yes", "no"])],
    [{ guided_regex: "[a-c]+" }, regexGrammar("[a-c]+")],
    [{ regex: "[a-c]+" }, regexGrammar("[a-c]+")],
    [{ structured_outputs: { regex: "[a-c]+" } }, regexGrammar("[a-c]+")],
    [{ grammar: "", guided_json: null }, undefined],
  ])("%j", (fields, expected) => {
    expect(chat(fields).constraint?.grammar).toBe(expected);
    expect(completion(fields).constraint?.grammar).toBe(expected);
  });
});

describe("refused by name", () => {
  const signs = (count: number) => Array.from({ length: count }, (_, n) => String.fromCodePoint(0x4e00 + n));
  test.each([
    [{ guided_json: "{" }, "invalid_value", "guided_json"],
    [{ guided_json: "[]" }, "invalid_value", "guided_json"],
    [{ guided_regex: "(?=a)" }, "invalid_value", "guided_regex"],
    [{ guided_regex: "a++" }, "invalid_value", "guided_regex"],
    [{ structured_outputs: { regex: "\\bx" } }, "invalid_value", "structured_outputs.regex"],
    [{ guided_choice: ["a", "b\ud800"] }, "invalid_value", "guided_choice.1"],
    [{ structured_outputs: { choice: ["\udc00"] } }, "invalid_value", "structured_outputs.choice.0"],
    [{ guided_regex: "a\ud800?" }, "invalid_value", "guided_regex"],
    [{ guided_choice: signs(5001) }, "invalid_value", "guided_choice"],
    [{ guided_choice: signs(2000).map((sign) => sign.repeat(300)) }, "invalid_value", "guided_choice"],
    [{ guided_choice: signs(101).map((sign) => `a${sign.repeat(9999)}`) }, "invalid_value", "guided_choice"],
    [{ guided_choice: ["a"], guided_regex: "a" }, "invalid_value", "guided_regex"],
    [{ grammar: 'root ::= "x"', response_format: { type: "json_object" } }, "invalid_value", "grammar"],
    [{ structured_outputs: { structural_tag: "{}" } }, "unsupported_parameter", "structured_outputs.structural_tag"],
    [
      { structured_outputs: { whitespace_pattern: " " } },
      "unsupported_parameter",
      "structured_outputs.whitespace_pattern",
    ],
    [{ guided_decoding_backend: "outlines" }, "unsupported_parameter", "guided_decoding_backend"],
    [{ guided_whitespace_pattern: " " }, "unsupported_parameter", "guided_whitespace_pattern"],
    [{ response_format: { type: "grammar" } }, "missing_required_parameter", "response_format.grammar"],
    [{ response_format: { type: "json_schema" } }, "missing_required_parameter", "response_format.json_schema"],
  ])("%j", (fields, code, param) => {
    for (const decode of [chat, completion]) expect(thrown(() => decode(fields))).toEqual([code, param]);
  });

  test("thousands of choices are accepted when they differ early", () => {
    const choices = Array.from({ length: 20_000 }, (_, n) => `ticket ${n}`);
    expect(chat({ guided_choice: choices }).constraint?.choice).toEqual(choices);
  });

  test("a surrogate pair is accepted in a choice", () => {
    expect(chat({ guided_choice: ["\ud83d\ude00"] }).constraint?.choice).toEqual(["😀"]);
  });

  test("a choice beside tools", () => {
    const tools = [{ type: "function", function: { name: "f" } }];
    expect(thrown(() => chat({ tools, guided_choice: ["a"] }))).toEqual(["invalid_value", "guided_choice"]);
  });
});

describe("a regular expression as a grammar", () => {
  test.each([
    ["abc", "root ::= [a] [b] [c]"],
    ["^a$|b", "root ::= [a] | [b]"],
    ["(a|bc)*", "root ::= ([a] | ([b] [c])){0,}"],
    ["[a-z]{2,3}\\.", "root ::= [a-z]{2,3} [\\x2E]"],
    ["\\u00e9", "root ::= [\\xE9]"],
    ["(?<year>\\d{4})", "root ::= [0-9]{4,4}"],
    ["[^\\s\\S]a|b", "root ::= [b]"],
    ["a[]", undefined],
  ])("%s", (source, expected) => expect(regexGrammar(source)).toBe(expected));

  test("texts of a choice cannot end their quotes", () => {
    expect(choiceGrammar(['a"\\\n', "é😀"])).toBe('root ::= "a\\x22\\x5C\\x0A" | "\\xE9\\U0001F600"');
  });
});

describe("without enforcement, a schema or a required call is stated in the prompt", () => {
  const f = { name: "f", parameters: { type: "object" } };
  const asked = { messages: [{ role: "user", content: "hi" }], tools: [{ type: "function", function: f }] };
  const json_schema = { name: "n", schema };

  test.each<[path: string, body: object, form: object, forced: object | undefined]>([
    [
      "/v1/chat/completions",
      asked,
      { response_format: { type: "json_schema", json_schema } },
      { tool_choice: "required" },
    ],
    [
      "/v1/responses",
      { input: "hi", tools: [{ type: "function", ...f }] },
      { text: { format: { type: "json_schema", ...json_schema } } },
      { tool_choice: "required" },
    ],
    [
      "/v1/messages",
      { ...asked, max_tokens: 9, tools: [{ name: "f", input_schema: f.parameters }] },
      { output_config: { format: { type: "json_schema", schema } } },
      { tool_choice: { type: "any" } },
    ],
    ["/api/chat", asked, { format: schema }, undefined],
  ])("%s", async (path, body, form, forced) => {
    const toldWith = async (fields: object) => {
      const { post, engine } = serve(hello, { constrain: false });
      await (await post(path, { ...body, ...fields })).text();
      return engine.requests[0]?.messages.map(({ content }) => content);
    };
    expect(await toldWith({})).toEqual(["hi"]);
    expect(await toldWith(form)).toEqual([expect.stringContaining(JSON.stringify(schema)), "hi"]);
    if (!forced) return;
    expect(await toldWith({ ...form, ...forced })).toEqual(["Answer with a call of a tool and nothing else.", "hi"]);
  });
});
