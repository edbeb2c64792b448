// Every dialect's answers, whole and streamed, byte for byte; and what holds for any of their streams.

import { describe, expect, test } from "bun:test";
import { Completion } from "../../src/contract/completions.ts";
import { MessagesResponse } from "../../src/contract/messages.ts";
import { ResponseResource } from "../../src/contract/responses.ts";
import { checker } from "../../src/contract/schema.ts";
import type { FakeScript } from "../../src/engine/fake.ts";
import { expectGolden } from "../http/golden.ts";
import { serve } from "../http/harness.ts";
import { scriptNames, scripts, type ScriptName } from "./scripts.ts";

const id = { "x-request-id": "golden" };
const schema = { type: "object", properties: { city: { type: "string" } } };

interface Event {
  readonly event: string | undefined;
  readonly data: string;
}

function eventsOf(body: string): Event[] {
  expect(body.endsWith("\n\n")).toBe(true);
  return body
    .slice(0, -2)
    .split("\n\n")
    .map((block) => {
      const lines = block.split("\n");
      const value = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      return { event: value("event"), data: value("data") ?? "" };
    });
}

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

const parsed = (events: readonly Event[]) =>
  events.filter(({ data }) => data.startsWith("{")).map(({ data }) => JSON.parse(data));

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
  const check = checker(MessagesResponse);

  test.each(scriptNames.filter((name) => name !== "failed"))("whole: %s", async (name) => {
    const response = await run("/v1/messages", body, name, false);
    const text = await response.text();
    check(JSON.parse(text));
    await expectGolden(`messages-${name}.json`, text);
  });

  test.each(scriptNames)("streamed: %s", async (name) => {
    const text = await (await run("/v1/messages", body, name, true)).text();
    await expectGolden(`messages-${name}.sse`, text);
    const events = eventsOf(text);
    for (const { event, data } of events) expect(JSON.parse(data).type).toBe(event as string);
    expect(events[0]?.event).toBe("message_start");
    expect(events.at(-1)?.event).toBe(name === "failed" ? "error" : "message_stop");
    let open = -1;
    let next = 0;
    for (const { type, index } of parsed(events)) {
      if (type === "content_block_start") {
        expect([open, index]).toEqual([-1, next]);
        open = next++;
      } else if (type === "content_block_delta") expect(index).toBe(open);
      else if (type === "content_block_stop") {
        expect(index).toBe(open);
        open = -1;
      }
    }
    if (name !== "failed") expect(open).toBe(-1);
  });

  test("thoughts stay inside unless they are wanted", async () => {
    const { thinking: _, ...silent } = body;
    const text = await (await run("/v1/messages", silent, "reasoning", true)).text();
    expect(text).not.toContain("thinking_delta");
    expect(text).toContain('"text":"42"');
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
  const body = {
    input: "hi",
    reasoning: { effort: "low" },
    tools: [{ type: "function", name: "weather", parameters: schema }, { type: "web_search" }],
  };
  const check = checker(ResponseResource);

  test.each(scriptNames.filter((name) => name !== "failed"))("whole: %s", async (name) => {
    const text = await (await run("/v1/responses", body, name, false)).text();
    check(JSON.parse(text));
    await expectGolden(`responses-${name}.json`, text);
  });

  test.each(scriptNames)("streamed: %s", async (name) => {
    const text = await (await run("/v1/responses", body, name, true)).text();
    await expectGolden(`responses-${name}.sse`, text);
    const events = eventsOf(text);
    expect(events.at(-1)?.data).toBe("[DONE]");
    const told = parsed(events);
    expect(told.map(({ sequence_number }) => sequence_number)).toEqual(told.map((_, index) => index));
    expect(told.slice(0, 2).map(({ type }) => type)).toEqual(["response.created", "response.in_progress"]);
    const ends = told.filter(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type));
    expect(ends.length).toBe(1);
    const { response } = ends[0];
    check(response);
    // What was told on the way is what the resource has.
    const done = told.filter(({ type }) => type === "response.output_item.done");
    if (name !== "failed") expect(done.map(({ item }) => item)).toEqual(response.output);
    for (const { output_index, item_id } of told.filter((event) => event.item_id)) {
      expect(response.output[output_index].id).toBe(item_id);
    }
  });

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

  test("only so many are kept", async () => {
    const server = serve(scripts.text, { storedResponses: { count: 2, bytes: 1_000_000 } });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await json(server.post("/v1/responses", { input: "hi" }))).id);
    const found = await Promise.all(ids.map(async (one) => (await fetch(`${server.url}/v1/responses/${one}`)).status));
    expect(found).toEqual([404, 200, 200]);
  });
});

describe("completions", () => {
  const body = { prompt: "Once", max_tokens: 10, stop: "two" };
  const names = scriptNames.filter((name) => !name.includes("call") && name !== "reasoning");
  const check = checker(Completion);

  test.each(names.filter((name) => name !== "failed"))("whole: %s", async (name) => {
    const text = await (await run("/v1/completions", body, name, false)).text();
    check(JSON.parse(text));
    await expectGolden(`completions-${name}.json`, text);
  });

  test.each(names)("streamed: %s", async (name) => {
    const request = { ...body, stream_options: { include_usage: true } };
    const text = await (await run("/v1/completions", request, name, true)).text();
    await expectGolden(`completions-${name}.sse`, text);
    const events = eventsOf(text);
    expect(events.at(-1)?.data).toBe("[DONE]");
    parsed(events).forEach(check);
  });

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

  test.each([
    [{ prompt: [] }, "prompt"],
    [{ prompt: "" }, "prompt"],
    [{ prompt: { text: "x" } }, "prompt"],
    [{ prompt: ["a", 5] }, "prompt"],
    [{}, "prompt"],
    [{ prompt: "a", n: 2, best_of: 1 }, "best_of"],
    [{ prompt: "a", best_of: 2, stream: true }, "best_of"],
    [{ prompt: "a", echo: true, logprobs: 1 }, "echo"],
    [{ prompt: [1, 2], echo: true }, "echo"],
    [{ prompt: "a", max_tokens: 0 }, "max_tokens"],
    [{ prompt: [1], suffix: "x" }, "suffix"],
    [{ prompt: "a", logprobs: 21 }, "logprobs"],
  ])("%j is refused by name", async (wrong, param) => {
    const response = await serve().post("/v1/completions", wrong);
    expect(response.status).toBe(400);
    expect((await json(response)).error.param).toStartWith(param);
  });
});
