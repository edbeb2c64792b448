import { describe, expect, test } from "bun:test";
import { decodeChat } from "../../src/dialect/chat/decode.ts";
import type { GenerationSettings } from "../../src/dialect/fields/settings.ts";
import { settings } from "../support/generation-settings.ts";
import { thrown } from "../support/thrown.ts";

const user = { role: "user", content: "hi" };
const decode = (fields: Record<string, unknown>, overrides: Partial<GenerationSettings> = {}) =>
  decodeChat({ messages: [user], ...fields }, { ...settings, ...overrides }).request;
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tool = (name: string, more: object = {}) => ({
  type: "function",
  function: { name, parameters: schema, ...more },
});

describe("tools", () => {
  test("are passed on; a function without parameters takes none", () => {
    const { tools, toolChoice } = decode({
      tools: [tool("a", { description: "does a" }), { type: "function", function: { name: "b" } }],
    });
    expect(tools).toMatchObject([
      { name: "a", description: "does a", parameters: schema, enforced: schema },
      { name: "b", description: "", enforced: { type: "object", properties: {}, additionalProperties: false } },
    ]);
    expect(toolChoice).toBe("auto");
  });

  test.each([[{ type: "object" }], [{}]])("with parameters of %j accept any arguments", (parameters) => {
    expect(decode({ tools: [tool("a", { parameters })] }).tools[0]?.enforced).toEqual({ type: "object" });
  });

  const closed = (name: string) => ({
    type: "object",
    properties: { [name]: {} },
    required: [name],
    additionalProperties: false,
  });
  const argument = (p: object) => ({ type: "object", properties: { p }, required: ["p"], additionalProperties: false });
  const anything = { type: "object" };
  const text = { type: "string" };
  const elsewhere = { $ref: "http://json-schema.org/draft-07/schema#" };
  test.each<[string, object, object]>([
    [
      "a pattern of another dialect",
      argument({ ...text, pattern: "(?i)^a", maxLength: 5 }),
      argument({ ...text, maxLength: 5 }),
    ],
    ["the opposite of such a pattern", argument({ ...text, not: { pattern: "(?i)^a" } }), argument(text)],
    ["another document", argument({ ...elsewhere, ...text }), argument(text)],
    [
      "another document or a flag",
      argument({ oneOf: [elsewhere, { type: "boolean" }] }),
      argument({ anyOf: expect.arrayContaining([{ type: "boolean" }, anything]) }),
    ],
    ["another document as a whole", elsewhere, anything],
    [
      "a definition that is missing",
      argument({ type: "array", items: { $ref: "#/$defs/a" } }),
      argument({ type: "array" }),
    ],
    [
      "patterns of names in another dialect",
      { patternProperties: { "(?i)^x-": text }, additionalProperties: false },
      anything,
    ],
    [
      "another document that may evaluate properties",
      { ...elsewhere, type: "object", unevaluatedProperties: false },
      anything,
    ],
    [
      "another document that may evaluate items",
      argument({ type: "array", allOf: [elsewhere], unevaluatedItems: false }),
      argument({ type: "array" }),
    ],
    [
      "such patterns in a part",
      { type: "object", allOf: [{ patternProperties: { "(?i)^x-": text } }], unevaluatedProperties: false },
      anything,
    ],
    ["a list without values", argument({ ...text, enum: [] }), argument(text)],
    ["values of another type", argument({ ...text, enum: [1, 2] }), argument(text)],
    ["two closed objects", { allOf: [closed("a"), closed("b")] }, anything],
  ])("with %s are enforced without that, unless they are strict", (_, parameters, enforced) => {
    expect(decode({ tools: [tool("a", { parameters })] }).tools).toMatchObject([{ parameters }]);
    expect<unknown>(decode({ tools: [tool("a", { parameters })] }).tools[0]?.enforced).toEqual(enforced);
    const strict = () => decode({ tools: [tool("a", { parameters, strict: true })] });
    expect(thrown(strict)).toEqual(["invalid_value", "tools.0.function.parameters"]);
  });

  test("with parameters of a wrong form are refused", () => {
    for (const parameters of [{ type: "nonsense" }, { properties: [] }, { $ref: "#" }]) {
      expect(thrown(() => decode({ tools: [tool("a", { parameters })] }))).toEqual([
        "invalid_value",
        "tools.0.function.parameters",
      ]);
    }
  });

  test("may expand to a limited total size, which allows many ordinary schemas", () => {
    const names = (start: string, count: number, at: number) =>
      Array.from({ length: count }, (_, index) => `${start}${index}_${at}`);
    const branching = (at: number) => ({
      type: "object",
      dependentRequired: Object.fromEntries(names("a", 9, at).map((name) => [name, [`b${name}`]])),
    });
    const many = (count: number, parameters: (at: number) => object) =>
      Array.from({ length: count }, (_, at) => tool(`f${at}`, { parameters: parameters(at) }));
    expect(decode({ tools: many(4, branching) }).tools.length).toBe(4);
    expect(thrown(() => decode({ tools: many(40, branching) }))).toEqual([
      "invalid_value",
      expect.stringMatching(/^tools\.\d+\.function\.parameters$/),
    ]);
    const nullable = { anyOf: [{ type: "string", description: "A path." }, { type: "null" }] };
    const ordinary = (at: number) => ({
      type: "object",
      properties: Object.fromEntries(names("p", 10, at).map((name) => [name, nullable])),
    });
    expect(decode({ tools: many(300, ordinary) }).tools.length).toBe(300);
  });

  test("are removed by none, reduced to one and forced by a name, and forced by required", () => {
    const tools = [tool("a"), tool("b")];
    expect(decode({ tools, tool_choice: "none" })).toMatchObject({ tools: [], toolChoice: "auto" });
    const named = decode({ tools, tool_choice: { type: "function", function: { name: "b" } } });
    expect([named.tools.map(({ name }) => name), named.toolChoice]).toEqual([["b"], "required"]);
    expect(decode({ tools, tool_choice: "required" })).toMatchObject({ toolChoice: "required" });
  });

  test("are limited to the allowed ones, free or forced, and to none if none is allowed", () => {
    const tools = [tool("a"), tool("b"), tool("c")];
    const allow = (mode: string | undefined, ...names: string[]) =>
      decode({
        tools,
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode, tools: names.map((name) => ({ type: "function", function: { name } })) },
        },
      });
    const chosen = [allow("auto", "c", "a"), allow("required", "b"), allow(undefined)].map((asked) => [
      asked.toolChoice,
      asked.tools.map(({ name }) => name),
      asked.allTools?.map(({ name }) => name),
    ]);
    const all = ["a", "b", "c"];
    expect<unknown>(chosen).toEqual([
      ["auto", ["a", "c"], all],
      ["required", ["b"], all],
      ["auto", [], all],
    ]);
    expect(thrown(() => allow("auto", "d"))).toEqual(["invalid_value", "tool_choice.allowed_tools.tools"]);
  });

  test.each([
    [{ type: "function", function: { name: "z" } }, "invalid_value", "tool_choice"],
    [{ type: "allowed_tools" }, "missing_required_parameter", "tool_choice.allowed_tools"],
    [{ type: "allowed_tools", allowed_tools: {} }, "missing_required_parameter", "tool_choice.allowed_tools.tools"],
    [{ type: "custom", custom: { name: "a" } }, "invalid_value", "tool_choice.type"],
  ])("with the choice %j are refused with the wrong field", (tool_choice, code, param) => {
    expect(thrown(() => decode({ tools: [tool("a")], tool_choice }))).toEqual([code, param]);
  });

  test("mean the same in the older form", () => {
    const functions = [tool("a").function, tool("b").function];
    expect(decode({ functions }).tools).toEqual(decode({ tools: [tool("a"), tool("b")] }).tools);
    expect(decode({ functions, function_call: { name: "a" } })).toMatchObject({
      tools: [{ name: "a" }],
      toolChoice: "required",
    });
    expect(decode({ functions, function_call: "none" }).tools).toEqual([]);
  });

  test("cannot be beside a grammar", () => {
    expect(thrown(() => decode({ tools: [tool("a")], grammar: "root ::= x" }))).toEqual(["invalid_value", "grammar"]);
  });

  test("are enforced when strict", () => {
    expect(decode({ tools: [tool("a")] }).constraint).toBeUndefined();
    expect(decode({ tools: [tool("a", { strict: true })] }).constraint).toEqual({ strict: true, inexpressible: false });
    expect(decode({ tools: [tool("a", { strict: true })], tool_choice: "none" }).constraint).toBeUndefined();
  });
});

describe("a conversation with calls", () => {
  const calls = (...ids: string[]) =>
    ids.map((id) => ({ id, type: "function", function: { name: `tool-${id}`, arguments: '{"x":1}' } }));
  const result = (id: string) => ({ role: "tool", tool_call_id: id, content: `result ${id}` });

  test("calls are passed back unchanged, with arguments as text, as an object, or truncated", () => {
    const call = (given: unknown) => ({ id: "c", type: "function", function: { name: "f", arguments: given } });
    const { messages } = decode({
      messages: [
        user,
        {
          role: "assistant",
          content: null,
          reasoning_content: "hm",
          tool_calls: [call('{"a":1}'), call({ a: 1 }), call('{"a": "un'), call("")],
        },
      ],
    });
    expect(messages[1]).toEqual({
      role: "assistant",
      content: "",
      reasoning: "hm",
      toolCalls: ['{"a":1}', '{"a":1}', '"{\\"a\\": \\"un"', "{}"].map((text) => ({
        id: "c",
        name: "f",
        arguments: text,
      })),
    });
  });

  test("results come in the order of their calls and get the names of those", () => {
    const { messages } = decode({
      messages: [
        user,
        { role: "assistant", tool_calls: calls("a", "b", "c") },
        result("c"),
        result("a"),
        { ...result("b"), name: "own name" },
        user,
      ],
    });
    expect(messages.slice(2, 5)).toEqual([
      { role: "tool", toolCallId: "a", content: "result a", name: "tool-a" },
      { role: "tool", toolCallId: "b", content: "result b", name: "own name" },
      { role: "tool", toolCallId: "c", content: "result c", name: "tool-c" },
    ]);
    expect(messages.at(-1)).toEqual({ role: "user", content: "hi" });
  });

  test("a result without a matching call is kept, at the end", () => {
    const { messages } = decode({
      messages: [user, { role: "assistant", tool_calls: calls("a") }, result("zzz"), result("a")],
    });
    expect(messages.map(({ content }) => content)).toEqual(["hi", "", "result a", "result zzz"]);
    const { messages: orphan } = decode({ messages: [user, result("zzz")] });
    expect(orphan[1]).toEqual({ role: "tool", toolCallId: "zzz", content: "result zzz" });
  });
});

describe("structured output", () => {
  const format = (more: object) => ({
    response_format: { type: "json_schema", json_schema: { name: "n", schema, ...more } },
  });

  test("is a schema, any object, or text", () => {
    expect(decode(format({})).constraint).toMatchObject({ schema, strict: false, inexpressible: false });
    expect(decode(format({ strict: true })).constraint).toMatchObject({ strict: true });
    expect(decode({ response_format: { type: "json_object" } }).constraint?.schema).toEqual({ type: "object" });
    expect(decode({ response_format: { type: "text" } }).constraint).toBeUndefined();
    // llama.cpp takes an empty schema for no constraint, but the answer must be JSON.
    expect(
      decode({ response_format: { type: "json_schema", json_schema: { name: "n", schema: {} } } }).constraint,
    ).toMatchObject({ schema: { anyOf: [{}] } });
  });

  test("--guided-json applies to requests that name no format", () => {
    const guidedJson = { type: "array" };
    expect(decode({}, { guidedJson }).constraint?.schema).toEqual({ type: "array" });
    expect(decode({ response_format: { type: "text" } }, { guidedJson }).constraint).toBeUndefined();
    expect(decode(format({}), { guidedJson }).constraint?.schema).toMatchObject(schema);
  });

  test("without enforcement the schema is requested in the prompt", () => {
    const { messages } = decode(format({}), { constrain: false });
    expect(messages[0]?.role).toBe("system");
    expect(messages[0]?.content).toContain(JSON.stringify(schema));
    const system = { role: "system", content: "Be kind." };
    const joined = decode({ ...format({}), messages: [system, user] }, { constrain: false }).messages;
    expect(joined.length).toBe(2);
    expect(joined[0]?.content).toStartWith("Be kind.\n\n");
    expect(decode(format({})).messages).toEqual([{ role: "user", content: "hi" }]);
  });

  test("a grammar of the client is used as it is", () => {
    expect(decode({ grammar: 'root ::= "a"' }).constraint).toEqual({
      grammar: 'root ::= "a"',
      strict: false,
      inexpressible: false,
    });
    expect(thrown(() => decode({ ...format({}), grammar: "root ::= x" }))).toEqual(["invalid_value", "grammar"]);
  });
});

test("a request may have at most 1024 tools or functions", () => {
  const names = Array.from({ length: 1025 }, (_, index) => `f${index}`);
  const functions = names.map((name) => ({ name }));
  expect(decode({ functions: functions.slice(1) }).tools).toHaveLength(1024);
  expect(thrown(() => decode({ functions }))).toEqual(["invalid_value", "functions"]);
  expect(thrown(() => decode({ tools: names.map((name) => tool(name)) }))).toEqual(["invalid_value", "tools"]);
});

describe("reasoning", () => {
  const kwargs = (value: object) => ({ chat_template_kwargs: value });
  test.each([
    [{}, undefined, undefined],
    [{ response_format: { type: "json_object" } }, false, undefined],
    [{ response_format: { type: "json_object" }, reasoning_effort: "low" }, true, "low"],
    [{ reasoning_effort: "none" }, false, undefined],
    [{ reasoning_effort: "minimal" }, true, "low"],
    [{ reasoning_effort: "low" }, true, "low"],
    [{ reasoning_effort: "medium" }, true, "high"],
    [{ reasoning_effort: "high" }, true, "high"],
    [{ reasoning_effort: "xhigh" }, true, "max"],
    [{ reasoning_effort: "max" }, true, "max"],
    [kwargs({ enable_thinking: true }), true, undefined],
    [{ reasoning_effort: "max", ...kwargs({ enable_thinking: false }) }, false, undefined],
    [{ reasoning_effort: "none", ...kwargs({ enable_thinking: true }) }, true, undefined],
    [kwargs({ reasoning_effort: "high" }), undefined, "high"],
    [kwargs({ reasoning_effort: "high", enable_thinking: false }), false, "high"],
    [kwargs({ reasoning_effort: "high", enable_thinking: true }), true, "high"],
    [{ reasoning_effort: "low", ...kwargs({ reasoning_effort: "high" }) }, true, "low"],
    [{ reasoning_effort: "none", ...kwargs({ reasoning_effort: "high" }) }, false, undefined],
  ])("%j", (fields, thinking, effort) => {
    const request = decode(fields);
    expect<unknown>([request.thinking, request.templateKwargs["reasoning_effort"]]).toEqual([thinking, effort]);
    expect(request.templateKwargs["enable_thinking"]).toBeUndefined();
  });

  test("launch options set a default that requests may change, or forbid reasoning for all requests", () => {
    const templateKwargs = { enable_thinking: true };
    expect(decode({}, { templateKwargs }).thinking).toBe(true);
    expect(decode({ reasoning_effort: "none" }, { templateKwargs }).thinking).toBe(false);
    expect(decode({ reasoning_effort: "high" }, { templateKwargs, think: false }).thinking).toBe(false);
    expect(decode({ reasoning_effort: "high" }, { think: false }).templateKwargs).toEqual({});
  });

  test("a default effort reaches the template of every request, unless reasoning is forbidden", () => {
    const templateKwargs = { reasoning_effort: "low" };
    expect(decode({}, { templateKwargs }).templateKwargs).toEqual(templateKwargs);
    expect(decode(kwargs({ reasoning_effort: "high" }), { templateKwargs }).templateKwargs).toEqual({
      reasoning_effort: "high",
    });
    expect(decode({}, { templateKwargs, think: false }).templateKwargs).toEqual({});
  });

  test("the request or the launch option sets a budget, and -1 removes it", () => {
    expect(decode({ reasoning_budget_tokens: 5 }, { reasoningBudget: 9 }).reasoningBudget).toBe(5);
    expect(decode({}, { reasoningBudget: 9 }).reasoningBudget).toBe(9);
    expect(decode({ reasoning_budget_tokens: -1 }, { reasoningBudget: 9 }).reasoningBudget).toBeUndefined();
    expect(decode({ reasoning_budget_tokens: 0 }).reasoningBudget).toBe(0);
  });
});

describe("llama.cpp's further samplers", () => {
  test("are passed on under their internal names", () => {
    const { sampling } = decode({
      typical_p: 0.9,
      mirostat: 2,
      dry_sequence_breakers: ["\n"],
      min_tokens: 3,
      ignore_eos: true,
    });
    expect(sampling).toEqual({
      typicalP: 0.9,
      mirostat: 2,
      drySequenceBreakers: ["\n"],
      minTokens: 3,
      ignoreEos: true,
    });
  });

  test("samplers may be letters, of which unknown ones are skipped", () => {
    const named = ["penalties", "dry", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature"];
    expect(decode({ samplers: "edkypmxt" }).sampling).toEqual(decode({ samplers: named }).sampling);
    expect(decode({ samplers: "edkypmxt" }).sampling).toEqual({ topNSigma: -1 });
    expect(decode({ samplers: "kfz pai" }).sampling).toEqual(decode({ samplers: ["top_k", "top_p"] }).sampling);
    expect(decode({ samplers: "edskypmxt", top_k: 5 }).sampling).toEqual({ topK: 5 });
    expect(thrown(() => decode({ samplers: "tk" }))).toEqual(["unsupported_parameter", "samplers"]);
    expect(thrown(() => decode({ samplers: "k".repeat(33) }))).toEqual(["invalid_value", "samplers"]);
    expect(thrown(() => decode({ samplers: 5 }))).toEqual(["invalid_type", "samplers"]);
  });

  test("a list of samplers may have names of other versions of llama.cpp, which are skipped, and its aliases", () => {
    const older = ["dry", "top_k", "tfs_z", "typical_p", "top_p", "min_p", "xtc", "temperature"];
    const known = older.filter((name) => name !== "tfs_z");
    expect(decode({ samplers: older }).sampling).toEqual(decode({ samplers: known }).sampling);
    const aliases = ["DRY", "top-k", "typ", "nucleus", "minp", "xtc", "temp"];
    expect(decode({ samplers: aliases }).sampling).toEqual(decode({ samplers: known }).sampling);
    expect(thrown(() => decode({ samplers: ["tfs_z", "temp", "top_k"] }))).toEqual([
      "unsupported_parameter",
      "samplers.2",
    ]);
  });

  test("logit_bias takes token ids, and -100 bans a token", () => {
    expect(decode({ logit_bias: { 5: 1.5, 7: -100 } }).sampling.logitBias).toEqual([
      [5, 1.5],
      [7, -1e9],
    ]);
    expect(thrown(() => decode({ logit_bias: { word: 1 } }))).toEqual(["invalid_value", "logit_bias"]);
    expect(thrown(() => decode({ logit_bias: { 5: 101 } }))).toEqual(["invalid_value", "logit_bias.5"]);
  });
});
