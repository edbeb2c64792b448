// Tools of the Responses API other than functions in `tools`: custom tools, and tools that items of the input add.

import { describe, expect, test } from "bun:test";
import { decodeResponses } from "../../src/dialect/responses/decode.ts";
import { serve } from "../http/harness.ts";
import { settings } from "../support/generation-settings.ts";
import { assembleResponse } from "../support/streams/responses.ts";
import { toolCall } from "../support/tool-call.ts";

const history = { upTo: () => undefined, items: () => undefined, item: () => undefined };
const decode = (fields: object) => decodeResponses({ input: "hi", ...fields }, settings, history).request;
const names = (fields: object) => decode(fields).tools.map(({ name }) => name);
const user = { role: "user", content: "hi" };
const fruit = { type: "function", name: "fruit", parameters: { type: "object" } };
const patch = { type: "custom", name: "patch", description: "Changes files." };

describe("custom tools", () => {
  const grammar = (syntax: string, definition: string) => ({
    ...patch,
    format: { type: "grammar", syntax, definition },
  });
  const shop = { type: "namespace", name: "shop", description: "A shop.", tools: [patch] };

  test("are functions with one text to the model", () => {
    const { tools, constraint } = decode({ tools: [patch, { ...patch, name: "run", format: { type: "text" } }, shop] });
    expect(tools.map(({ name }) => name)).toEqual(["patch", "run", "shop__patch"]);
    expect(tools[0]).toMatchObject({
      description: "Changes files.",
      parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
    });
    expect(constraint).toBeUndefined();
  });

  test("enforce a regular expression", () => {
    const { tools, constraint } = decode({ tools: [grammar("regex", "a|b+")] });
    expect(tools[0]?.parameters).toMatchObject({ properties: { input: { pattern: "^(?:a|b+)$" } } });
    expect(constraint).toEqual({ strict: true, inexpressible: false });
  });

  test.each([
    ["lark", 'start: "a"'],
    ["regex", "(?i)select .*"],
    ["regex", "(?P<a>x)"],
  ])("describe another grammar, and report that it is not enforced: %s %s", async (syntax, definition) => {
    const tools = [grammar(syntax, definition)];
    expect(decode({ tools }).tools[0]?.description).toBe(
      `Changes files.\n\ninput must follow this ${syntax} grammar:\n${definition}`,
    );
    const response = await serve().post("/v1/responses", { input: "hi", tools });
    expect([response.status, response.headers.get("x-grammar-constraints")]).toEqual([200, "downgraded"]);
  });

  test("can be chosen", () => {
    const choice = { type: "custom", name: "patch" };
    const allowed = { type: "allowed_tools", mode: "auto", tools: [choice] };
    for (const tool_choice of [choice, allowed]) {
      expect(names({ tools: [fruit, patch], tool_choice })).toEqual(["patch"]);
    }
  });

  test.each<[string, string, "completed" | "incomplete", string]>([
    ["whole", '{"input": "a\\n\\"b\\" ü"}', "completed", 'a\n"b" ü'],
    ["cut off", '{"input": "a\\nb', "incomplete", "a\nb"],
    ["cut off before it begins", '{"in', "incomplete", '{"in'],
    ["of another form", '{"patch": "a"}', "completed", '{"patch": "a"}'],
  ])("are called with their text, which is %s", async (_, json, status, input) => {
    const pieces = json.match(/[^]{1,4}/g) ?? [];
    const reason = status === "completed" ? "tool_calls" : "length";
    const server = serve({ reason, steps: toolCall("shop__patch", pieces) });
    const asked = { input: "hi", tools: [shop] };
    const call = { type: "custom_tool_call", call_id: "call_1", name: "patch", namespace: "shop", input, status };
    const whole = (await (await server.post("/v1/responses", asked)).json()) as { id: string; output: object[] };
    expect(whole.output).toEqual([{ ...call, id: expect.stringMatching(/^ctc_/) }]);
    const stream = await (await server.post("/v1/responses", { ...asked, stream: true })).text();
    expect(assembleResponse(stream).body?.output).toMatchObject([call]);
  });

  test("and their results are read in items, and continue from a stored response in the same way", async () => {
    const server = serve({ reason: "tool_calls", steps: toolCall("patch", ['{"input":"a\\nb"}']) });
    const asked = await server.post("/v1/responses", { input: "hi", tools: [patch] });
    const { id, output } = (await asked.json()) as { id: string; output: object[] };
    const result = { type: "custom_tool_call_output", call_id: "call_1", output: "done" };
    await server.post("/v1/responses", { input: [user, ...output, result], tools: [patch] });
    await server.post("/v1/responses", { input: [result], previous_response_id: id, tools: [patch] });
    for (const { messages } of server.engine.requests.slice(1)) {
      expect(messages.slice(1)).toMatchObject([
        { toolCalls: [{ id: "call_1", name: "patch", arguments: '{"input":"a\\nb"}' }] },
        { role: "tool", toolCallId: "call_1", content: "done" },
      ]);
    }
  });

  test.each([
    [{ type: "custom_tool_call", name: "patch", input: "a" }, "missing_required_parameter", "input.0.call_id"],
    [{ type: "custom_tool_call", call_id: "c", name: "patch" }, "missing_required_parameter", "input.0.input"],
    [{ type: "custom_tool_call", call_id: "c", name: "patch", input: {} }, "invalid_type", "input.0.input"],
  ])("%j is refused", (item, code, param) => {
    expect(() => decode({ input: [item] })).toThrow(expect.objectContaining({ code, details: { param } }));
  });
});

describe("tools in items", () => {
  const found = (...tools: object[]) => ({ type: "tool_search_output", call_id: "c", execution: "client", tools });
  const more = (...tools: object[]) => ({ type: "additional_tools", role: "developer", tools });
  const shop = { type: "namespace", name: "shop", description: "A shop.", tools: [fruit] };

  test("can be called beside those of the request, each once", () => {
    const input = [
      more({ type: "web_search" }, patch, shop),
      user,
      found(shop),
      found(fruit, { ...fruit, name: "nut" }),
    ];
    expect(names({ input, tools: [fruit] })).toEqual(["fruit", "patch", "shop__fruit", "nut"]);
    expect(names({ input, tools: [{ type: "web_search" }] })).toEqual(["patch", "shop__fruit", "fruit", "nut"]);
  });

  test("are called by both their names", async () => {
    const server = serve({ reason: "tool_calls", steps: toolCall("shop__fruit", ["{}"]) });
    const answer = await (await server.post("/v1/responses", { input: [more(shop), user] })).json();
    expect(answer).toMatchObject({ output: [{ type: "function_call", name: "fruit", namespace: "shop" }] });
  });

  test("are refused by their place", () => {
    const about = (code: string, param: string) => expect.objectContaining({ code, details: { param } });
    const asked = (tools: unknown) => decode({ input: [user, { type: "additional_tools", tools }] });
    const nameless = about("missing_required_parameter", "input.1.tools.0.name");
    expect(() => asked([{ type: "function" }])).toThrow(nameless);
    expect(() => asked(["fruit"])).toThrow(about("invalid_type", "input.1.tools.0"));
    expect(() => asked({})).toThrow(about("invalid_type", "input.1.tools"));
    const inner = { type: "namespace", name: "shop", tools: [{ ...fruit, parameters: 5 }] };
    expect(() => asked([inner])).toThrow(about("invalid_type", "input.1.tools.0.tools.0.parameters"));
  });
});
