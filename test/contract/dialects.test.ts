// What dialects do beyond the shape of their answers: what is kept, hidden, continued or refused.

import { describe, expect, spyOn, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { fakeModel, type FakeScript } from "../../src/engine/fake.ts";
import { expectGolden } from "../http/golden.ts";
import { serve, until } from "../http/harness.ts";
import { picture, pngFile } from "../models/media-files.ts";
import { scripts, type ScriptName } from "./scripts.ts";

const id = { "x-request-id": "golden" };
const schema = { type: "object", properties: { city: { type: "string" } } };

/** What the tests below look at in an answer. */
interface Answer {
  readonly id: string;
  readonly status: string;
  readonly background: boolean;
  readonly output: readonly { readonly content: readonly { readonly text: string }[] }[];
  readonly previous_response_id: string;
  readonly data: readonly { readonly content: unknown }[];
  readonly choices: readonly { readonly text: string; readonly index: number }[];
  readonly usage: object;
  readonly error: { readonly param: string };
}

const json = async (response: Response | Promise<Response>): Promise<Answer> =>
  (await (await response).json()) as Answer;

const run = (path: string, body: object, name: ScriptName, stream: boolean) =>
  serve(scripts[name] as FakeScript).post(path, { ...body, stream }, id);

describe("messages", () => {
  const body = {
    max_tokens: 100,
    messages: [{ role: "user", content: "hi" }],
    thinking: { type: "adaptive" },
    stop_sequences: ["two"],
    tools: [{ name: "weather", input_schema: schema }],
  };

  test("thoughts stay inside unless they are wanted", async () => {
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

  test("sampling fields of other conventions have no effect, whatever they hold", async () => {
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

  const inResult = (content: unknown) => ({
    ...body,
    messages: [
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "weather", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content }] },
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
    [[{ type: "image", source: "x" }], "invalid_type", ".0.source"],
    [
      [
        { type: "text", text: "hi" },
        { type: "document", source: [], title: 5 },
      ],
      "invalid_type",
      ".1.source",
    ],
  ])("blocks of a tool's result are checked: %j", async (content, code, place) => {
    const server = serve(scripts.text);
    server.engine.model = { ...fakeModel, vision: true };
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const response = await server.post(path, inResult(content));
      expect(response.status).toBe(400);
      expect((await json(response)).error).toMatchObject({ code, param: `messages.1.content.0.content${place}` });
    }
  });

  test("results without content, of null, text and blocks are told", async () => {
    const server = serve(scripts.text);
    const texts = [undefined, null, "one", [], [{ type: "text", text: "one", id: null, cache_control: {} }]];
    for (const content of texts) expect((await server.post("/v1/messages", inResult(content))).status).toBe(200);
    const told = server.engine.requests.map(({ messages }) => messages.at(-1)?.content);
    expect(told).toEqual(["", "", "one", "", "one"]);
  });

  test("the older place of an output's schema counts as well", async () => {
    const server = serve(scripts.text);
    const asked = { ...body, tools: null, mcp_servers: [], output_format: { type: "json_schema", schema } };
    expect((await server.post("/v1/messages", asked)).status).toBe(200);
    expect(server.engine.requests[0]?.constraint?.strict).toBe(true);
  });

  test("--guided-json serves requests that name no format", async () => {
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

  test("a conversation that the server would have to hold is refused, so that clients send it whole", async () => {
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

  test("the older place of the answer's format", async () => {
    const server = serve(scripts.text);
    const format = { type: "json_schema", schema };
    await server.post("/v1/messages", { ...body, output_format: format });
    await server.post("/v1/messages", { ...body, output_config: { format } });
    const [older, newer] = server.engine.requests.map(({ constraint }) => constraint?.schema);
    expect(older).toEqual(expect.objectContaining({ type: "object" }));
    expect(older).toEqual(newer);
    const wrong = await server.post("/v1/messages", { ...body, output_format: { type: "json_schema", schema: 5 } });
    expect((await json(wrong)).error.param).toBe("output_format.schema");
    const none = { type: "json_schema", schema: { type: "nonsense" } };
    expect((await json(server.post("/v1/messages", { ...body, output_format: none }))).error.param).toStartWith(
      "output_format.schema",
    );
  });

  test("the request id comes under the convention's name as well", async () => {
    for (const request of [body, { messages: [] }]) {
      const { headers } = await serve().post("/v1/messages", request, id);
      expect([headers.get("request-id"), headers.get("x-request-id")]).toEqual(["golden", "golden"]);
    }
    expect((await serve().chat({})).headers.get("request-id")).toBeNull();
  });

  test("errors are the envelope and the convention's at once", async () => {
    const response = await serve().post("/v1/messages", { messages: [] }, id);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: "error",
      request_id: "golden",
      error: { type: "invalid_request_error", code: "missing_required_parameter", request_id: "golden" },
    });
  });
});

describe("responses", () => {
  test("an answer is kept, continued, listed and deleted; an unknown one is a 404", async () => {
    const server = serve(scripts.text);
    const first = await json(server.post("/v1/responses", { input: "My name is Bob." }));
    const second = await server.post("/v1/responses", { input: "And?", previous_response_id: first.id });
    expect((await json(second)).previous_response_id).toBe(first.id);
    expect(server.engine.requests.at(-1)?.messages.map(({ content }) => content)).toEqual([
      "My name is Bob.",
      'Hello "Zürich" 👋\n',
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

  test.each(["prompt", "conversation", "moderation"])("%s is refused by name", async (field) => {
    const { error } = await json(serve().post("/v1/responses", { input: "hi", [field]: { id: "x" } }));
    expect(error).toMatchObject({ code: "unsupported_parameter", param: field });
  });

  test("listed input has ids, states and parts, whatever the request left out", async () => {
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

  test("instructions are of one turn, and come before the conversation", async () => {
    const server = serve(scripts.text);
    const first = await json(server.post("/v1/responses", { input: "hi", instructions: "Be brief." }));
    expect(server.engine.requests[0]?.messages[0]).toEqual({ role: "system", content: "Be brief." });
    await (await server.post("/v1/responses", { input: "again", previous_response_id: first.id })).text();
    expect(server.engine.requests[1]?.messages.some(({ role }) => role === "system")).toBe(false);
  });

  test("what is not to be stored is not there", async () => {
    const server = serve(scripts.text);
    const { id: response } = await json(server.post("/v1/responses", { input: "hi", store: false }));
    expect((await fetch(`${server.url}/v1/responses/${response}`)).status).toBe(404);
  });

  test("in the background: at once in progress, fetched when done, cancelled by its id", async () => {
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
    expect(endless.generation.activeCount).toBe(0);
  });

  test("a failure is kept as such", async () => {
    const server = serve(scripts.failed);
    const begun = await json(server.post("/v1/responses", { input: "hi", background: true }));
    const fetched = () => json(fetch(`${server.url}/v1/responses/${begun.id}`));
    while ((await fetched()).status === "in_progress") await Bun.sleep(5);
    expect(await fetched()).toMatchObject({ status: "failed", error: { code: "server_error" } });
  });

  test("an answer whose client left is cancelled, with what there was", async () => {
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
        await until(() => server.generation.activeCount === 0);
        const kept = await json(fetch(`${server.url}/v1/responses/${response}`));
        expect(kept).toMatchObject({ status: "cancelled", error: null, output: [{ status: "incomplete" }] });
      } else {
        left.abort();
        await until(() => server.generation.activeCount === 0);
        expect(server.metrics.calls.at(-1)).toBe("finished cancelled");
      }
    }
  });

  test("a failure in the middle leaves no item in progress", async () => {
    const server = serve(scripts.failed);
    const text = await (await server.post("/v1/responses", { input: "hi", stream: true })).text();
    const response = /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1];
    const kept = await json(fetch(`${server.url}/v1/responses/${response}`));
    expect(kept).toMatchObject({ status: "failed", output: [{ status: "incomplete" }] });
  });

  test("what is echoed is what is in effect", async () => {
    const answer = await json(serve(scripts.text).post("/v1/responses", { input: "hi", frequency_penalty: 1 }));
    expect(answer).toMatchObject({ temperature: 0.8, top_p: 0.95, presence_penalty: 0, frequency_penalty: 0 });
  });

  test("allowed tools are the only ones, free or forced; none allowed is none", async () => {
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
    expect((await json(unknown)).error.param).toBe("tool_choice.name");
  });

  test.each([
    ["limit=0", "limit", 400],
    ["limit=many", "limit", 400],
    ["order=up", "order", 400],
    ["after=item_x", "after", 404],
  ])("a page with %s is refused by name", async (query, param, status) => {
    const server = serve(scripts.text);
    const { id: response } = await json(server.post("/v1/responses", { input: "hi" }));
    const refused = await fetch(`${server.url}/v1/responses/${response}/input_items?${query}`);
    expect([refused.status, (await json(refused)).error.param]).toEqual([status, param]);
  });

  test("enable_thinking must be a boolean", async () => {
    const body = { input: "hi", chat_template_kwargs: { enable_thinking: "yes" } };
    const { error } = await json(serve().post("/v1/responses", body));
    expect(error).toMatchObject({ code: "invalid_type", param: "chat_template_kwargs.enable_thinking" });
  });

  test("a refused request ends no other one of the same correlation id", async () => {
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

  test("cancelling and deleting by its id ends this one, not a newer one of the same correlation id", async () => {
    const server = serve({ steps: [{ text: "a" }, { wait: new Promise(() => {}) }] });
    const older = await json(server.post("/v1/responses", { input: "hi", background: true }, id));
    const newer = await json(server.post("/v1/responses", { input: "hi", background: true }, id));
    expect((await json(server.post(`/v1/responses/${older.id}/cancel`, ""))).status).toBe("cancelled");
    const fetched = () => json(fetch(`${server.url}/v1/responses/${newer.id}`));
    expect([(await fetched()).status, server.engine.live]).toEqual(["in_progress", 1]);
    await fetch(`${server.url}/v1/responses/${newer.id}`, { method: "DELETE" });
    await until(() => server.engine.live === 0);
  });

  test("only so many are kept", async () => {
    const server = serve(scripts.text, { storedResponses: { count: 2, bytes: 1_000_000 } });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await json(server.post("/v1/responses", { input: "hi" }))).id);
    const found = await Promise.all(ids.map(async (one) => (await fetch(`${server.url}/v1/responses/${one}`)).status));
    expect(found).toEqual([404, 200, 200]);
  });
});

describe("counting", () => {
  const counted = (url: string): [path: string, body: object, param: string][] => [
    [
      "/v1/messages/count_tokens",
      { messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url } }] }] },
      "messages.0.content.0.source.url",
    ],
    [
      "/v1/responses/input_tokens",
      { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] },
      "input.0.content.0.image_url",
    ],
  ];

  test("a model that does not see refuses pictures as it does where it answers", async () => {
    for (const [path, asked, param] of counted("data:image/png;base64,aGVsbG8=")) {
      const response = await serve().post(path, asked);
      expect(response.status).toBe(400);
      expect((await json(response)).error).toMatchObject({ code: "unsupported_media_input", param });
    }
  });

  test("what is no picture is refused; pictures come to the engine decoded", async () => {
    const server = serve();
    server.engine.model = { ...fakeModel, vision: true };
    for (const [path, asked, param] of counted("data:image/png;base64,aGVsbG8=")) {
      const response = await server.post(path, asked);
      expect(response.status).toBe(400);
      expect((await json(response)).error).toMatchObject({ code: "invalid_value", param });
    }
    const picked = spyOn(server.engine, "countTokens");
    const png = Buffer.from(pngFile(picture(3, 2))).toString("base64");
    for (const [path, asked] of counted(`data:image/png;base64,${png}`)) {
      expect((await server.post(path, asked)).status).toBe(200);
    }
    const media = picked.mock.calls.map(([request]) => request.media);
    expect(media).toEqual([[expect.objectContaining({ width: 3, height: 2 })], media[0]]);
  });
});

describe("completions", () => {
  const body = { prompt: "Once", max_tokens: 10, stop: "two" };
  test("without being asked, a stream has no usage", async () => {
    const text = await (await run("/v1/completions", body, "text", true)).text();
    expect(text).not.toContain('"usage"');
  });

  test("several prompts, n answers each, in order; with echo after their prompt", async () => {
    const server = serve((request) => ({ steps: [{ text: ` after ${request.prompt}` }] }));
    const answer = await json(server.post("/v1/completions", { prompt: ["A", "B"], n: 2, echo: true }));
    expect(answer.choices.map(({ text }: { text: string }) => text)).toEqual([
      "A after A",
      "A after A",
      "B after B",
      "B after B",
    ]);
    expect(answer.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3]);
    expect(answer.usage).toMatchObject({ prompt_tokens: 24, completion_tokens: 4 });
    const alone = await json(server.post("/v1/completions", { prompt: "A", max_tokens: 0, echo: true }));
    expect(alone.choices[0]?.text).toBe("A");
  });

  test("as many answers as one request may have are made, and one more prompt is refused", async () => {
    const server = serve((request) => ({ steps: [{ text: String(request.prompt) }] }), { maxQueue: 2 });
    const prompts = (count: number) => Array.from({ length: count }, (_, at) => `p${at}`);
    const answer = await json(server.post("/v1/completions", { prompt: prompts(64), n: 4 }));
    expect(answer.choices.map(({ text }) => text)).toEqual(prompts(64).flatMap((text) => [text, text, text, text]));
    const refused = await server.post("/v1/completions", { prompt: prompts(3), n: 128 }, id);
    expect(refused.status).toBe(400);
    await expectGolden("completions-many-refused.json", await refused.text());
  });

  test.each([
    [{ prompt: [] }, "prompt"],
    [{ prompt: "" }, "prompt"],
    [{ prompt: { text: "x" } }, "prompt"],
    [{ prompt: ["a", 5] }, "prompt.1"],
    [{ prompt: [4294967301] }, "prompt.0"],
    [{ prompt: [[1], [2, -1]] }, "prompt.1.1"],
    [{}, "prompt"],
    [{ prompt: "a", n: 2, best_of: 1 }, "best_of"],
    [{ prompt: "a", best_of: 2, stream: true }, "best_of"],
    [{ prompt: "a", echo: true, logprobs: 1 }, "echo"],
    [{ prompt: [1, 2], echo: true }, "echo"],
    [{ prompt: "a", max_tokens: 0 }, "max_tokens"],
    [{ prompt: [1], suffix: "x" }, "suffix"],
    [{ prompt: ["a", "b", "c"], n: 86 }, "n"],
    [{ prompt: ["a", "b", "c"], best_of: 86 }, "best_of"],
    [{ prompt: "a", logprobs: 21 }, "logprobs"],
  ])("%j is refused by name", async (wrong, param) => {
    const response = await serve().post("/v1/completions", wrong);
    expect(response.status).toBe(400);
    expect((await json(response)).error.param).toStartWith(param);
  });
});
