// Tools as coding agents declare them: deferred until a search finds them, or inside namespaces.

import { describe, expect, test } from "bun:test";
import { decodeMessages } from "../../src/dialect/messages/decode.ts";
import { decodeResponses } from "../../src/dialect/responses/decode.ts";
import { serve } from "../http/harness.ts";
import { settings } from "../support/generation-settings.ts";
import { toolCall } from "../support/tool-call.ts";

const schema = { type: "object", properties: { city: { type: "string" } } };
const names = (tools: readonly { name: string; described?: true }[]) =>
  tools.map(({ name, described }) => (described ? `${name}, described` : name));

describe("messages: deferred tools", () => {
  const search = { name: "search", input_schema: { type: "object" } };
  const held = (name: string) => ({ name, description: `does ${name}`, input_schema: schema, defer_loading: true });
  const found = (...tools: string[]) => [
    { role: "user", content: "hi" },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "search", input: {} }] },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_1",
          content: tools.map((tool_name) => ({ type: "tool_reference", tool_name })),
        },
      ],
    },
  ];
  const decode = (fields: object) => decodeMessages({ max_tokens: 9, ...fields }, settings).request;

  test("are absent until a result refers to them; then they come last, in the order of the references", () => {
    const tools = [held("a"), search, held("b"), held("c")];
    expect(names(decode({ tools, messages: [{ role: "user", content: "hi" }] }).tools)).toEqual(["search"]);
    const { tools: called, messages } = decode({ tools, messages: found("c", "a") });
    expect(names(called)).toEqual(["search", "c, described", "a, described"]);
    const result = String(messages.at(-1)?.content);
    expect(result).toContain('"name":"c","description":"does c"');
    expect(result.indexOf('"name":"c"')).toBeLessThan(result.indexOf('"name":"a"'));
  });

  test("are described once, however often results refer to them", () => {
    const { messages } = decode({ tools: [search, held("a"), held("b")], messages: found("a", "b", "a", "a") });
    const result = String(messages.at(-1)?.content);
    expect(result.match(/"description":"does [ab]"/g)).toEqual(['"description":"does a"', '"description":"does b"']);
    expect(result.match(/The tool a can be called/g)).toHaveLength(2);
  });

  test("are all present when the search would run on another server", () => {
    const tools = [{ type: "tool_search_tool_regex_20251119", name: "find" }, held("a")];
    expect(names(decode({ tools, messages: [{ role: "user", content: "hi" }] }).tools)).toEqual(["a"]);
  });

  test("that no longer exist are reported as unavailable, and a reference without a name is refused", () => {
    expect(decode({ tools: [search], messages: found("x") }).messages.at(-1)?.content).toBe(
      "The tool x is not available.",
    );
    const messages = JSON.parse(JSON.stringify(found("x")).replace('"tool_name":"x"', '"tool_name":null'));
    expect(() => decode({ tools: [search], messages })).toThrow(
      "'messages.2.content.0.content.0.tool_name' is required",
    );
  });

  test("can be combined with every way of displaying reasoning", () => {
    const messages = [{ role: "user", content: "hi" }];
    for (const display of ["summarized", "omitted", "updates"]) {
      expect(decode({ messages, thinking: { type: "adaptive", display } }).thinking).toBe(true);
    }
  });
});

describe("responses: namespaces", () => {
  const inner = { type: "function", name: "fruit", description: "names a fruit", parameters: schema };
  const namespace = { type: "namespace", name: "mcp__shop", description: "a shop", tools: [inner] };
  const tools = [{ type: "function", name: "fruit", parameters: schema }, namespace, { type: "web_search" }];
  const history = { upTo: () => undefined, items: () => undefined, item: () => undefined };
  const decode = (fields: object) => decodeResponses({ input: "hi", tools, ...fields }, settings, history).request;

  test("their functions are named with both names for the model", () => {
    expect(names(decode({}).tools)).toEqual(["fruit", "mcp__shop__fruit"]);
    const choice = { type: "function", namespace: "mcp__shop", name: "fruit" };
    expect(names(decode({ tool_choice: choice }).tools)).toEqual(["mcp__shop__fruit"]);
  });

  test("their functions all count towards the limit of tools in a request", () => {
    const shop = (name: string, count: number) => ({
      type: "namespace",
      name,
      tools: Array.from({ length: count }, (_, at) => ({ type: "function", name: `f${at}` })),
    });
    expect(decode({ tools: [shop("a", 1000), shop("b", 24)] }).tools).toHaveLength(1024);
    const refused = expect.objectContaining({
      code: "invalid_value",
      details: { param: "tools" },
      message: "'tools' must have at most 1024 functions, those of namespaces included; got 1025.",
    });
    expect(() => decode({ tools: [shop("a", 1000), shop("b", 24), inner] })).toThrow(refused);
  });

  test("one without a name is refused with its position", () => {
    const nameless = { ...namespace, tools: [inner, { type: "function" }] };
    expect(() => decode({ tools: [nameless] })).toThrow("'tools.0.tools.1.name' is required");
    expect(() => decode({ tools: [{ ...namespace, name: null }] })).toThrow("'tools.0.name' is required");
  });

  test("calls reach the client and come back with namespace and name as separate fields", async () => {
    const server = serve({ reason: "tool_calls", steps: toolCall("mcp__shop__fruit", ["{}"]) });
    const response = await server.post("/v1/responses", { input: "hi", tools });
    const { id, output } = (await response.json()) as { id: string; output: object[] };
    expect(output).toMatchObject([{ type: "function_call", namespace: "mcp__shop", name: "fruit" }]);
    const result = { type: "function_call_output", call_id: "call_1", output: "a plum" };
    await server.post("/v1/responses", { input: [{ role: "user", content: "hi" }, ...output, result], tools });
    await server.post("/v1/responses", { input: [result], previous_response_id: id, tools });
    for (const { messages } of server.engine.requests.slice(1)) {
      expect(messages[1]?.toolCalls).toEqual([{ id: "call_1", name: "mcp__shop__fruit", arguments: "{}" }]);
    }
  });
});
