// What the Messages API does in addition to the recorded answers: fields that are hidden, reported or refused.

import { describe, expect, test } from "bun:test";
import type { ContentPart } from "../../src/domain/generate.ts";
import { fakeModel } from "../support/fake-text-engine.ts";
import { drawn, pngOf } from "../support/pages.ts";
import { serve } from "../http/harness.ts";
import { id, json, run, schema } from "./asking.ts";
import { scripts } from "./scripts.ts";

describe("messages", () => {
  const body = {
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
    thinking: { type: "adaptive" },
    stop_sequences: ["two"],
    tools: [{ name: "weather", input_schema: schema }],
  };

  test("reasoning is hidden unless the request asks for it", async () => {
    const { thinking: _, ...silent } = body;
    const text = await (await run("/v1/messages", silent, "reasoning", true)).text();
    expect(text).not.toContain("thinking_delta");
    expect(text).toContain('"text":"42"');
  });

  test.each([{ container: "c" }, { mcp_servers: [{ url: "http://127.0.0.1:1" }] }])("%j is refused", async (field) => {
    const response = await serve().post("/v1/messages", { ...body, ...field });
    const { error } = await json(response);
    expect(error).toMatchObject({ code: "unsupported_parameter", param: Object.keys(field)[0] });
  });

  const search = { type: "web_search_20250305", name: "web_search", max_uses: 8 };

  test.each([
    [{ tools: [search] }, "tools.0.type"],
    [{ tools: [search], tool_choice: { type: "tool", name: "web_search" } }, "tools.0.type"],
    [{ tools: [...body.tools, search], tool_choice: { type: "tool", name: "web_search" } }, "tools.1.type"],
    [{ tools: [{ type: "bash_20250124", name: "bash" }] }, "tools.0.type"],
  ])("no answer is invented for a vendor tool: %j is refused", async (fields, param) => {
    const { error } = await json(serve().post("/v1/messages", { ...body, ...fields }));
    const message = expect.stringContaining("a type of tool that svc does not know");
    expect(error).toMatchObject({ code: "unsupported_parameter", param, message });
  });

  test("a prompt is counted also with vendor tools alone", async () => {
    const response = await serve().post("/v1/messages/count_tokens", { ...body, tools: [search] });
    expect(response.status).toBe(200);
  });

  test("vendor tools are ignored beside others, and where none may be called", async () => {
    const server = serve(scripts.text);
    const asked = [
      { tools: [search, ...body.tools] },
      { tools: [search, ...body.tools], tool_choice: { type: "tool", name: "weather" } },
      { tools: [search], tool_choice: { type: "none" } },
    ];
    for (const fields of asked) expect((await server.post("/v1/messages", { ...body, ...fields })).status).toBe(200);
    const called = server.engine.requests.map(({ tools }) => tools.map(({ name }) => name));
    expect(called).toEqual([["weather"], ["weather"], []]);
  });

  test("sampling fields of other APIs have no effect, whatever their values", async () => {
    const server = serve(scripts.text);
    const foreign = { seed: "x", logit_bias: { cat: "x" }, repeat_last_n: 2 ** 31 - 1, dry_sequence_breakers: 5 };
    for (const fields of [foreign, { seed: 1.5, mirostat: "x", min_tokens: -1 }, {}]) {
      const response = await server.post("/v1/messages", {
        ...body,
        temperature: 0.5,
        top_p: 0.9,
        top_k: 3,
        ...fields,
      });
      expect(response.status).toBe(200);
    }
    const sampled = { temperature: 0.5, topP: 0.9, topK: 3 };
    expect(server.engine.requests.map(({ sampling }) => sampling)).toEqual([sampled, sampled, sampled]);
  });

  const inResult = (content: unknown, more: object = {}) => ({
    ...body,
    messages: [
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "weather", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content, ...more }] },
    ],
  });

  test.each<[unknown, string, string]>([
    [5, "invalid_type", ""],
    [{ type: "text", text: "hi" }, "invalid_type", ""],
    [["hi"], "invalid_type", ".0"],
    [[{ text: "hi" }], "missing_required_parameter", ".0.type"],
    [[{ type: 5 }], "invalid_type", ".0.type"],
    [[{ type: "text", text: 5 }], "invalid_type", ".0.text"],
    [[{ type: "text" }], "missing_required_parameter", ".0.text"],
    [[{ type: "tool_result", content: "hi" }], "invalid_value", ".0.type"],
    [[{ type: "tool_reference", tool_name: 5 }], "invalid_type", ".0.tool_name"],
    [[{ type: "image", source: { type: "url", url: 5 } }], "invalid_type", ".0.source.url"],
    [[{ type: "image", source: { type: "base64", data: {} } }], "invalid_type", ".0.source.data"],
    [[{ type: "image", source: "x" }], "invalid_value", ".0.source"],
    [
      [
        { type: "text", text: "hi" },
        { type: "document", source: [], title: 5 },
      ],
      "invalid_type",
      ".1.source",
    ],
  ])("the blocks of a tool result are validated: %j", async (content, code, place) => {
    const server = serve(scripts.text);
    server.engine.model = { ...fakeModel, vision: true };
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const response = await server.post(path, inResult(content));
      expect(response.status).toBe(400);
      expect((await json(response)).error).toMatchObject({ code, param: `messages.1.content.0.content${place}` });
    }
  });

  test("results without content, or with null, text or blocks are passed to the model", async () => {
    const server = serve(scripts.text);
    const texts = [undefined, null, "one", [], [{ type: "text", text: "one", id: null, cache_control: {} }]];
    for (const content of texts) expect((await server.post("/v1/messages", inResult(content))).status).toBe(200);
    const told = server.engine.requests.map(({ messages }) => messages.at(-1)?.content);
    expect(told).toEqual(["", "", "one", "", "one"]);
  });

  test("calls of server tools and their results, which earlier answers of Anthropic's service have, are ignored", async () => {
    const server = serve(scripts.text);
    const call = (id: string, name: string) => ({ type: "server_tool_use", id, name, input: { query: "sky" } });
    const found = { type: "web_search_result", title: "Sky", url: "https://example.org", encrypted_content: "x" };
    const failed = { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" };
    const content = [
      { type: "text", text: "I look." },
      call("srvtoolu_1", "web_search"),
      { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ ...found, page_age: null }] },
      call("srvtoolu_2", "web_search"),
      { type: "web_search_tool_result", tool_use_id: "srvtoolu_2", content: failed },
      { type: "mcp_tool_use", id: "mcptoolu_1", name: "a", server_name: "b", input: {} },
      { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content: [{ type: "text", text: "c" }] },
      { type: "text", text: "It is blue.", citations: [{ type: "web_search_result_location", url: "x" }] },
    ];
    const messages = [{ role: "assistant", content }, ...body.messages];
    expect((await server.post("/v1/messages", { ...body, messages })).status).toBe(200);
    expect(server.engine.requests[0]?.messages[0]).toEqual({ role: "assistant", content: "I look.\nIt is blue." });
    for (const [role, type, field] of [
      ["assistant", "tool_result", "type"],
      ["user", "web_search_tool_result", "type"],
      ["user", "search_result", "content"],
    ]) {
      const messages = [{ role, content: [{ type, content: failed }] }];
      const refused = await server.post("/v1/messages", { ...body, messages });
      expect((await json(refused)).error.param).toBe(`messages.0.content.0.${field}`);
    }
  });

  test("results come in the order of their calls and get the names of those", async () => {
    const server = serve(scripts.text);
    const names = ["first", "second"];
    const calls = names.map((name) => ({ type: "tool_use", id: `toolu_${name}`, name, input: {} }));
    const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: `of ${call.name}` }));
    const messages = [
      { role: "assistant", content: calls },
      { role: "user", content: results.toReversed() },
    ];
    expect((await server.post("/v1/messages", { ...body, messages })).status).toBe(200);
    expect(server.engine.requests[0]?.messages.slice(1)).toEqual(
      names.map((name) => ({ role: "tool", toolCallId: `toolu_${name}`, name, content: `of ${name}` })),
    );
  });

  test("search results are passed on with title and source, in turns and in tool results", async () => {
    const server = serve(scripts.text);
    const found = {
      type: "search_result",
      source: "https://example.org/sky",
      title: "Sky",
      content: [
        { type: "text", text: "It is blue." },
        { type: "text", text: "At noon." },
      ],
      citations: { enabled: true },
    };
    const content = [found, { type: "text", text: "Which colour?" }];
    await server.post("/v1/messages", { model: "m", max_tokens: 5, messages: [{ role: "user", content }] });
    expect((await server.post("/v1/messages", inResult([found]))).status).toBe(200);
    const text = "Sky\nhttps://example.org/sky\nIt is blue.\nAt noon.";
    const told = server.engine.requests.map(({ messages }) => messages.at(-1)?.content);
    expect(told).toEqual([`${text}\nWhich colour?`, text]);
    const refused = await server.post("/v1/messages", inResult([{ type: "search_result", title: "Sky" }]));
    const error = { code: "missing_required_parameter", param: "messages.1.content.0.content.0.content" };
    expect((await json(refused)).error).toMatchObject(error);
  });

  test("results that are errors are marked as such, with or without images", async () => {
    const server = serve(scripts.text);
    server.engine.model = { ...fakeModel, vision: true };
    const text = { type: "text", text: "one" };
    const data = Buffer.from(await pngOf(await drawn({ lines: [] }))).toString("base64");
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
    const told = async (content: unknown, is_error?: boolean | null) => {
      expect((await server.post("/v1/messages", inResult(content, { is_error }))).status).toBe(200);
      const last = server.engine.requests.at(-1)?.messages.at(-1)?.content;
      return Array.isArray(last)
        ? last.map((part: ContentPart) => (part.type === "text" ? part.text : part.type))
        : last;
    };
    expect(await told("one", true)).toBe("Error: one");
    expect(await told([text, image], true)).toEqual(["Error:", "one", "media"]);
    for (const isError of [undefined, null, false])
      expect(await told([text, image], isError)).toEqual(["one", "media"]);
  });

  test.each([
    [{}, false, "low"],
    [{ thinking: { type: "adaptive" } }, true, "low"],
    [{ thinking: { type: "disabled" } }, false, undefined],
    [{ chat_template_kwargs: { enable_thinking: false } }, false, undefined],
    [{ chat_template_kwargs: { enable_thinking: true } }, true, "low"],
  ])("effort does not decide about reasoning: with %j it is %p", async (fields, thinking, effort) => {
    const server = serve(scripts.text);
    await server.post("/v1/messages", { ...body, thinking: null, ...fields, output_config: { effort: "low" } });
    const [asked] = server.engine.requests;
    expect([asked?.thinking, asked?.templateKwargs["reasoning_effort"]]).toEqual([thinking, effort]);
  });

  test("a launch option that turns reasoning on applies beside an effort", async () => {
    const server = serve(scripts.text, { templateKwargs: { enable_thinking: true } });
    await server.post("/v1/messages", { ...body, thinking: null, output_config: { effort: "high" } });
    expect(server.engine.requests[0]).toMatchObject({ thinking: true, templateKwargs: { reasoning_effort: "high" } });
  });

  test("empty stop sequences are ignored", async () => {
    const server = serve(scripts.text);
    expect((await server.post("/v1/messages", { ...body, stop_sequences: ["", "two"] })).status).toBe(200);
    expect(server.engine.requests[0]?.stop).toEqual(["two"]);
  });

  test("--guided-json applies to messages that name no format", async () => {
    const guidedJson = { type: "array" };
    const server = serve(scripts.text, { guidedJson });
    const format = { type: "json_schema", schema };
    for (const fields of [{}, { output_config: null }, { output_config: { effort: "low" } }]) {
      await server.post("/v1/messages", { ...body, ...fields });
      expect(server.engine.requests.at(-1)?.constraint).toMatchObject({ schema: { type: "array" }, strict: false });
    }
    for (const fields of [{ output_config: { format } }, { output_format: format }]) {
      await server.post("/v1/messages", { ...body, ...fields });
      expect(server.engine.requests.at(-1)?.constraint).toMatchObject({ schema: { type: "object" }, strict: true });
    }
  });

  test("a conversation stored on the server is refused, so that clients send the whole conversation", async () => {
    for (const thread of [{ type: "create" }, { type: "continue", previous_message_id: "msg_1" }]) {
      for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
        const response = await serve().post(path, { ...body, thread }, id);
        expect(response.status).toBe(400);
        const { error } = (await response.json()) as { error: object };
        expect(error).toMatchObject({
          code: "unsupported_parameter",
          param: "thread",
          details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
        });
      }
    }
    expect((await serve().post("/v1/messages", { ...body, thread: null }, id)).status).toBe(200);
  });

  test("the older field for the format of an answer is equivalent, and its errors name that field", async () => {
    const server = serve(scripts.text);
    const format = { type: "json_schema", schema };
    await server.post("/v1/messages", { ...body, mcp_servers: [], output_format: format });
    await server.post("/v1/messages", { ...body, output_config: { format } });
    const [older, newer] = server.engine.requests.map(({ constraint }) => constraint);
    expect(older).toMatchObject({ strict: true, schema: { type: "object" } });
    expect(older).toEqual(newer);
    const wrong = await server.post("/v1/messages", { ...body, output_format: { type: "json_schema", schema: 5 } });
    expect((await json(wrong)).error.param).toBe("output_format.schema");
    const none = { type: "json_schema", schema: { type: "nonsense" } };
    expect((await json(server.post("/v1/messages", { ...body, output_format: none }))).error.param).toStartWith(
      "output_format.schema",
    );
  });

  test("the request id is also sent in the header of this API", async () => {
    for (const request of [body, { messages: [] }]) {
      const { headers } = await serve().post("/v1/messages", request, id);
      expect([headers.get("request-id"), headers.get("x-request-id")]).toEqual(["golden", "golden"]);
    }
    expect((await serve().chat({})).headers.get("request-id")).toBeNull();
  });

  test("errors have the fields of both the envelope and this API", async () => {
    const response = await serve().post("/v1/messages", { messages: [] }, id);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: "error",
      request_id: "golden",
      error: { type: "invalid_request_error", code: "missing_required_parameter", request_id: "golden" },
    });
  });
});
