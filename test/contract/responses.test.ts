// What the Responses API does in addition to the recorded answers: what is stored, continued or refused.

import { describe, expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { expectGolden } from "../http/golden.ts";
import { serve } from "../http/harness.ts";
import { RawClient } from "../http/raw.ts";
import { until } from "../support/until.ts";
import { id, json, schema } from "./asking.ts";
import { scripts, TEXT } from "./scripts.ts";

describe("responses", () => {
  test("an answer is stored, continued, listed and deleted; an unknown one is 404", async () => {
    const server = serve(scripts.text);
    const first = await json(server.post("/v1/responses", { input: "My name is Bob." }));
    const second = await server.post("/v1/responses", { input: "And?", previous_response_id: first.id });
    expect((await json(second)).previous_response_id).toBe(first.id);
    expect(server.engine.requests.at(-1)?.messages.map(({ content }) => content)).toEqual([
      "My name is Bob.",
      TEXT,
      "And?",
    ]);
    const url = `${server.url}/v1/responses/${first.id}`;
    expect(await json(fetch(url))).toEqual(first);
    const items = await json(fetch(`${url}/input_items`));
    expect(items.data[0]?.content).toEqual([{ type: "input_text", text: "My name is Bob." }]);
    expect((await fetch(url, { method: "DELETE" })).status).toBe(200);
    for (const [path, method] of [
      ["", "GET"],
      ["", "DELETE"],
      ["/cancel", "POST"],
      ["/input_items", "GET"],
    ] as const) {
      expect((await fetch(url + path, { method })).status).toBe(404);
    }
    const gone = await server.post("/v1/responses", { input: "And?", previous_response_id: first.id });
    expect(gone.status).toBe(404);
  });

  test.each(["prompt", "moderation"])("%s is refused by name", async (field) => {
    const { error } = await json(serve().post("/v1/responses", { input: "hi", [field]: { id: "x" } }));
    expect(error).toMatchObject({ code: "unsupported_parameter", param: field });
  });

  test("listed input has ids, states and parts, even when the request omitted them", async () => {
    const server = serve(scripts.text);
    const input = [
      { role: "user", content: "hi" },
      { role: "assistant", content: "yes?" },
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Be brief." }] },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "sunny" },
    ];
    const { id: response } = await json(server.post("/v1/responses", { input }));
    const { data } = await json(fetch(`${server.url}/v1/responses/${response}/input_items?order=asc`));
    const status = "completed";
    const given = { id: expect.any(String), status };
    expect(data as unknown[]).toEqual([
      { ...given, type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] },
      {
        ...given,
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "yes?", annotations: [], logprobs: [] }],
      },
      { ...given, ...input[2] },
      { ...given, ...input[3] },
      { ...given, ...input[4] },
    ]);
  });

  test("results come in the order of calls that are stored and get the names of those", async () => {
    const server = serve(scripts["two-tool-calls"]);
    const tools = [{ type: "function", name: "weather", parameters: schema }];
    const first = await json(server.post("/v1/responses", { input: "hi", tools }));
    const input = ["call_2", "call_1"].map((call_id) => ({ type: "function_call_output", call_id, output: call_id }));
    await (await server.post("/v1/responses", { input, tools, previous_response_id: first.id })).text();
    expect(server.engine.requests[1]?.messages.slice(2)).toEqual(
      ["call_1", "call_2"].map((call) => ({ role: "tool", toolCallId: call, name: "weather", content: call })),
    );
  });

  test("instructions apply to one turn and come before the conversation", async () => {
    const server = serve(scripts.text);
    const first = await json(server.post("/v1/responses", { input: "hi", instructions: "Be brief." }));
    expect(server.engine.requests[0]?.messages[0]).toEqual({ role: "system", content: "Be brief." });
    await (await server.post("/v1/responses", { input: "again", previous_response_id: first.id })).text();
    expect(server.engine.requests[1]?.messages.some(({ role }) => role === "system")).toBe(false);
  });

  test("a response with store: false is not stored", async () => {
    const server = serve(scripts.text);
    const { id: response } = await json(server.post("/v1/responses", { input: "hi", store: false }));
    expect((await fetch(`${server.url}/v1/responses/${response}`)).status).toBe(404);
  });

  test("a background response is in progress at once, can be fetched when done, and cancelled by its id", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ text: "a" }, { wait: gate.promise }, { text: "b" }] });
    const begun = await json(server.post("/v1/responses", { input: "hi", background: true }));
    expect([begun.status, begun.background, begun.output]).toEqual(["in_progress", true, []]);
    const fetched = () => json(fetch(`${server.url}/v1/responses/${begun.id}`));
    expect((await fetched()).status).toBe("in_progress");
    gate.resolve();
    while ((await fetched()).status === "in_progress") await Bun.sleep(5);
    expect(await fetched()).toMatchObject({ status: "completed", output: [{ content: [{ text: "ab" }] }] });

    const endless = serve({ steps: [{ text: "a" }, { wait: new Promise(() => {}) }] });
    const running = await json(endless.post("/v1/responses", { input: "hi", background: true }));
    const cancelled = await endless.post(`/v1/responses/${running.id}/cancel`, "");
    expect((await json(cancelled)).status).toBe("cancelled");
    expect(endless.requests.activeCount).toBe(0);
  });

  test("a response in progress can be ended only with a key of the name with which it was begun", async () => {
    const apiKeys = ["ada", "eve"].map((name) => ({ name, key: `${name}-key` }));
    const server = serve({ steps: [{ text: "a" }, { wait: new Promise(() => {}) }] }, { apiKeys });
    const [ada, eve] = apiKeys.map(({ key }) => ({ "x-api-key": key }));
    const { id } = await json(server.post("/v1/responses", { input: "hi", background: true }, ada));
    const url = `${server.url}/v1/responses/${id}`;
    const end = (method: string, path = "", headers = {}) => fetch(url + path, { method, headers });
    for (const [method, path] of [["POST", "/cancel"] as const, ["DELETE", ""] as const]) {
      expect((await end(method, path, eve)).status).toBe(404);
    }
    expect(server.engine.live).toBe(1);
    expect((await json(end("POST", "/cancel", ada))).status).toBe("cancelled");
    expect((await end("DELETE", "", eve)).status).toBe(200);
  });

  test("cancelling is answered although nobody reads the stream of the response", async () => {
    const gate = Promise.withResolvers<void>();
    let produced = 0;
    const large = Array.from({ length: 2000 }, () => ({
      get text() {
        produced++;
        return "x".repeat(10_000);
      },
    }));
    const server = serve({ steps: [{ text: "a" }, { wait: gate.promise }, ...large] });
    const client = await RawClient.connect(server.port);
    client.post("/v1/responses", JSON.stringify({ input: "hi", stream: true }));
    await until(() => client.received.includes('"id":"resp_'));
    client.socket.pause();
    gate.resolve();
    let before: number;
    do {
      before = produced;
      await Bun.sleep(60);
    } while (produced === 0 || produced > before);
    const [, id] = /"id":"(resp_\w+)"/.exec(client.received) ?? [];
    expect((await server.post(`/v1/responses/${id}/cancel`, "")).status).toBe(200);
    client.leave();
    await until(() => server.requests.activeCount === 0);
  }, 30_000);

  test("a failed response is stored as failed", async () => {
    const server = serve(scripts.failed);
    const begun = await json(server.post("/v1/responses", { input: "hi", background: true }));
    const fetched = () => json(fetch(`${server.url}/v1/responses/${begun.id}`));
    while ((await fetched()).status === "in_progress") await Bun.sleep(5);
    expect(await fetched()).toMatchObject({ status: "failed", error: { code: "server_error" } });
  });

  test("a response whose client disconnected is stored as cancelled, with the text so far", async () => {
    const server = serve({ steps: [{ text: "a" }, { wait: new Promise(() => {}) }] });
    for (const stream of [true, false]) {
      const left = new AbortController();
      const begun = fetch(`${server.url}/v1/responses`, {
        method: "POST",
        body: JSON.stringify({ input: "hi", stream, metadata: { stream: String(stream) } }),
        signal: left.signal,
      });
      begun.catch(() => {});
      await until(() => server.engine.live === 1);
      if (stream) {
        const reader = (await begun).body?.getReader();
        const first = new TextDecoder().decode((await reader?.read())?.value);
        const response = /"id":"(resp_[0-9a-f]+)"/.exec(first)?.[1];
        left.abort();
        await until(() => server.requests.activeCount === 0);
        const kept = await json(fetch(`${server.url}/v1/responses/${response}`));
        expect(kept).toMatchObject({ status: "cancelled", error: null, output: [{ status: "incomplete" }] });
      } else {
        left.abort();
        await until(() => server.requests.activeCount === 0);
        expect(server.metrics.calls.at(-1)).toBe("finished cancelled");
      }
    }
  });

  test("a failure midway leaves no item in progress", async () => {
    const server = serve(scripts.failed);
    const text = await (await server.post("/v1/responses", { input: "hi", stream: true })).text();
    const response = /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1];
    const kept = await json(fetch(`${server.url}/v1/responses/${response}`));
    expect(kept).toMatchObject({ status: "failed", output: [{ status: "incomplete" }] });
  });

  test("a stream whose log probabilities take too much memory fails and says what to change", async () => {
    const one = { token: "a", id: 1, bytes: [97], logprob: -1 };
    const logprobs = Array(140_000).fill({ ...one, top: Array(20).fill(one) });
    const asked = { input: "hi", stream: true, include: ["message.output_text.logprobs"], top_logprobs: 20 };
    const text = await (await serve({ steps: [{ text: "a", logprobs }] }).post("/v1/responses", asked)).text();
    expect(text).toContain("event: response.failed");
    expect(text).toContain("'top_logprobs' must be smaller");
  });

  test("the echoed parameters are those in effect", async () => {
    const answer = await json(serve(scripts.text).post("/v1/responses", { input: "hi", frequency_penalty: 1 }));
    expect(answer).toMatchObject({ temperature: 0.8, top_p: 0.95, presence_penalty: 0, frequency_penalty: 0 });
  });

  test("only allowed tools are passed to the model, free or forced, and none if none is allowed", async () => {
    const server = serve(scripts.text);
    const tools = ["a", "b", "c"].map((name) => ({ type: "function", name, parameters: schema }));
    const allow = (mode: string | undefined, ...names: string[]) => ({
      type: "allowed_tools",
      mode,
      tools: [...names.map((name) => ({ type: "function", name })), { type: "web_search" }],
    });
    for (const tool_choice of [allow("auto", "c", "a"), allow("required", "b"), allow(undefined)]) {
      expect((await server.post("/v1/responses", { input: "hi", tools, tool_choice })).status).toBe(200);
    }
    expect(server.engine.requests.map((asked) => [asked.toolChoice, asked.tools.map(({ name }) => name)])).toEqual([
      ["auto", ["a", "c"]],
      ["required", ["b"]],
      ["auto", []],
    ]);
    const unknown = await server.post("/v1/responses", { input: "hi", tools, tool_choice: allow("auto", "d") });
    expect((await json(unknown)).error.param).toBe("tool_choice.tools");
  });

  test.each([
    ["limit=0", "limit", 400],
    ["limit=many", "limit", 400],
    ["limit=", "limit", 400],
    ["limit=1e1", "limit", 400],
    ["order=up", "order", 400],
    ["after=item_x", "after", 404],
  ])("a page with %s is refused by name", async (query, param, status) => {
    const server = serve(scripts.text);
    const { id: response } = await json(server.post("/v1/responses", { input: "hi" }));
    const refused = await fetch(`${server.url}/v1/responses/${response}/input_items?${query}`);
    expect([refused.status, (await json(refused)).error.param]).toEqual([status, param]);
  });

  test.each([
    [{}, undefined],
    [{ reasoning: { effort: "none" } }, false],
    [{ reasoning: { effort: "low" } }, true],
    [{ text: { format: { type: "json_object" } } }, false],
    [{ text: { format: { type: "json_object" } }, reasoning: { effort: "low" } }, true],
  ])(
    "without an effort the template decides whether the model reasons, unless the form is given: %j",
    async (fields, thinking) => {
      const server = serve(scripts.text);
      await server.post("/v1/responses", { input: "hi", ...fields });
      expect(server.engine.requests.map((asked) => asked.thinking)).toEqual([thinking]);
    },
  );

  test("a refused request does not end another one with the same correlation id", async () => {
    const refused = { fail: new SvcError("context_length_exceeded", "The prompt is too long.") };
    const server = serve(({ messages }) => ({
      steps: messages[0]?.content === "long" ? [refused, "accept"] : [{ text: "a" }, { wait: gate.promise }],
    }));
    const gate = Promise.withResolvers<void>();
    const first = server.post("/v1/responses", { input: "hi" }, id);
    await until(() => server.engine.live === 1);
    expect((await server.post("/v1/responses", { input: "long" }, id)).status).toBe(400);
    expect(server.engine.cancelled).toEqual([]);
    gate.resolve();
    expect((await json(first)).status).toBe("completed");
  });

  test("cancelling and deleting by id affects this response, not a newer one with the same correlation id", async () => {
    const server = serve({ steps: [{ text: "a" }, { wait: new Promise(() => {}) }] });
    const older = await json(server.post("/v1/responses", { input: "hi", background: true }, id));
    const newer = await json(server.post("/v1/responses", { input: "hi", background: true }, id));
    expect((await json(server.post(`/v1/responses/${older.id}/cancel`, ""))).status).toBe("cancelled");
    const fetched = () => json(fetch(`${server.url}/v1/responses/${newer.id}`));
    expect([(await fetched()).status, server.engine.live]).toEqual(["in_progress", 1]);
    await fetch(`${server.url}/v1/responses/${newer.id}`, { method: "DELETE" });
    await until(() => server.engine.live === 0);
  });

  test("the number of stored responses is limited", async () => {
    const server = serve(scripts.text, { storedResponses: { count: 2, bytes: 1_000_000 } });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await json(server.post("/v1/responses", { input: "hi" }))).id);
    const found = await Promise.all(ids.map(async (one) => (await fetch(`${server.url}/v1/responses/${one}`)).status));
    expect(found).toEqual([404, 200, 200]);
  });
});

describe("compaction", () => {
  test("turns a conversation into an item that replaces it in the next input", async () => {
    const server = serve({ steps: [{ text: "They want tea." }] });
    const post = async (path: string, body: object) => server.post(path, body, id);
    const input = [
      { role: "user", content: "I want tea." },
      { role: "assistant", content: "Green?" },
    ];
    const text = await (
      await post("/v1/responses/compact", { input, tools: [], text: { format: { type: "json_object" } } })
    ).text();
    await expectGolden("compaction-whole.json", text.replace(/cmp_[0-9a-f]{32}/, "cmp_ID"));
    const { output } = JSON.parse(text);
    const [asked] = server.engine.requests;
    expect(asked).toMatchObject({ thinking: false, tools: [], maxTokens: 2048 });
    expect(asked).not.toHaveProperty("constraint");
    expect(asked?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    await post("/v1/responses", { input: [...output, { role: "user", content: "Go on." }] });
    expect(server.engine.requests[1]?.messages).toEqual([
      { role: "user", content: "Summary of the conversation so far:\nThey want tea.\n\nGo on." },
    ]);
  });

  test.each([{}, { encrypted_content: "gAAAA" }, { encrypted_content: btoa("{}") }])(
    "%j is no compaction",
    async (item) => {
      const response = await serve().post("/v1/responses", { input: [{ type: "compaction", ...item }] });
      expect(response.status).toBe(400);
      expect((await json(response)).error.param).toBe("input.0.encrypted_content");
    },
  );
});
