// Models of other servers on every route that generates.

import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/domain/clock.ts";
import { Discovery } from "../../src/gateway/discovery.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import {
  chatServer,
  delta,
  eventStream,
  fixtureServer,
  helloStream,
  modelList,
  serverOf,
} from "../gateway/fixture-server.ts";
import { conversationOf, remote } from "../gateway/remote.ts";
import { dataUrl, flag } from "../media/files.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { until } from "../support/until.ts";
import type { TextBackend } from "../../src/service/model-router.ts";
import { hello, messages, serve } from "./harness.ts";

const body = async (response: Response) => (await response.json()) as Record<string, any>;

/** Starts a server with the upstream `up`, with or without a model of its own. */
async function gatewayServer(answer: Parameters<typeof chatServer>[0], serveModel = true) {
  const far = chatServer(answer);
  const { gateway } = await remote([far.url], { key: "secret" });
  return { far, server: serve(hello, { serveModel }, [gateway]) };
}

describe("a model of another server", () => {
  test("answers in every API under its listed name", async () => {
    const { server, far } = await gatewayServer(() =>
      eventStream([delta({ reasoning_content: "hm" }), delta({ content: "Hi" }), delta({}, "stop")]),
    );
    const model = "up/far";
    const chat = await body(await server.chat({ model }));
    expect(chat).toMatchObject({ model, choices: [{ message: { content: "Hi", reasoning_content: "hm" } }] });
    // The memory of another server is not measured.
    expect(chat["usage"]).not.toHaveProperty("peak_memory_gib");
    const responses = await body(await server.post("/v1/responses", { model, input: "hi" }));
    expect(responses).toMatchObject({ model, status: "completed", temperature: null, top_p: null });
    expect(JSON.stringify(responses["output"])).toContain('"text":"Hi"');
    const message = await body(await server.post("/v1/messages", { model, max_tokens: 5, messages }));
    expect(message).toMatchObject({ model, content: [{ type: "text", text: "Hi" }], stop_reason: "end_turn" });
    const ollama = await body(await server.post("/api/chat", { model, messages, stream: false }));
    expect(ollama).toMatchObject({ model, message: { content: "Hi", thinking: "hm" } });
    expect(server.engine.requests).toEqual([]);
    expect(far.asked.filter(({ path }) => path === "/v1/chat/completions")).toHaveLength(4);
    // The name without prefix is enough when no other source has it.
    expect(await body(await server.chat({ model: "far" }))).toMatchObject({ model });
  });

  test("may be named without its tag, and is no other model when its server lacks it", async () => {
    const ollama = fixtureServer(({ path, body: { model } }) => {
      if (path === "/v1/models") return Response.json(modelList("far:latest", "bge:latest"));
      const embedding = { index: 0, embedding: [1] };
      if (path === "/v1/embeddings") return Response.json({ model, data: [embedding], usage: { prompt_tokens: 1 } });
      return path === "/v1/chat/completions" ? helloStream() : undefined;
    });
    const { port } = ollama;
    const { gateway } = await remote([ollama.url]);
    const options = {
      ports: [port],
      named: [],
      names: [],
      timeouts: { connectMs: 1000, silenceMs: 2000 },
      clock: systemClock,
    };
    const discovery = new Discovery({ ...options, listeningPorts: async () => [] });
    const found = new Gateway({ configured: [], discovery, clock: systemClock, log: new RecordingLog() });
    await found.start();
    found.stop();
    const server = serve(hello, {}, [gateway, found]);
    for (const name of ["up", `localhost:${port}`]) {
      expect(await body(await server.chat({ model: `${name}/far` }))).toMatchObject({ model: `${name}/far:latest` });
      const vectors = await server.post("/v1/embeddings", { model: `${name}/bge`, input: "a" });
      expect(await body(vectors)).toMatchObject({ model: `${name}/bge:latest` });
    }
    expect(ollama.asked.at(-1)?.body["model"]).toBe("bge:latest");
    for (const [path, model, fields] of [
      ["/v1/chat/completions", `localhost:${port}/other`, { messages }],
      ["/v1/embeddings", "up/other", { input: "a" }],
      ["/v1/images/generations", "up/far", { prompt: "a house" }],
    ] as const) {
      const answer = await server.post(path, { model, ...fields });
      expect([path, answer.status, await body(answer)]).toMatchObject([
        path,
        404,
        { error: { code: "model_not_found", param: "model" } },
      ]);
    }
    // Clients that know only other services' image models mean the local one.
    expect((await server.post("/v1/images/generations", { model: "dall-e-3", prompt: "a house" })).status).toBe(200);
  });

  test("cannot continue from token ids, which only its own server understands", async () => {
    const { server, far } = await gatewayServer(helloStream);
    const asked = { model: "up/far", prompt: "hi", stream: false };
    expect((await server.post("/api/generate", asked)).status).toBe(200);
    const before = far.asked.length;
    const refused = await server.post("/api/generate", { ...asked, context: [1, 2] });
    expect([refused.status, far.asked.length]).toEqual([422, before]);
  });

  test("continues raw text", async () => {
    const chunk = (text: string, finish_reason: string | null) => ({ choices: [{ index: 0, text, finish_reason }] });
    const { server, far } = await gatewayServer(() => eventStream([chunk("lo", null), chunk("", "length")]));
    const answer = await body(await server.post("/v1/completions", { model: "up/far", prompt: "Hel", max_tokens: 1 }));
    expect(answer).toMatchObject({ model: "up/far", choices: [{ text: "lo", finish_reason: "length" }] });
    expect(far.asked.at(-1)?.body).toMatchObject({ prompt: "Hel", max_tokens: 1, model: "far" });
  });

  test("gets the fields that have no effect on local models, and the name of a schema", async () => {
    const { server, far } = await gatewayServer(helloStream);
    const sent = () => far.asked.at(-1)?.body ?? {};
    const both = { user: "u", safety_identifier: "s", prompt_cache_key: "k", service_tier: "flex" };
    const chat = { verbosity: "low", store: true, metadata: { a: "b" }, prediction: { type: "content", content: "x" } };
    const named = { name: "city", schema: { type: "object", properties: { a: { type: "string" } } }, strict: false };
    const response_format = { type: "json_schema", json_schema: named };
    expect((await server.chat({ model: "up/far", ...both, ...chat, response_format })).status).toBe(200);
    expect(sent()).toMatchObject({ ...both, ...chat, response_format: { json_schema: { name: "city" } } });
    const text = { verbosity: "high", format: { type: "json_schema", ...named } };
    const asked = { model: "up/far", input: "hi", ...both, text, store: true, metadata: { a: "b" } };
    expect((await server.post("/v1/responses", asked)).status).toBe(200);
    expect(sent()).toMatchObject({ ...both, verbosity: "high", response_format: { json_schema: { name: "city" } } });
    for (const name of ["store", "metadata"]) expect(sent()).not.toHaveProperty(name);
    expect((await server.chat({ model: "up/far", user: null, store: null })).status).toBe(200);
    for (const name of ["user", "store", "verbosity"]) expect(sent()).not.toHaveProperty(name);
    expect((await server.chat({ ...both, ...chat })).status).toBe(200);
    expect(server.engine.requests.at(-1)?.hints).toBeUndefined();
  });

  test("reports in each API that its server filtered the answer", async () => {
    const { server } = await gatewayServer(({ path }) =>
      eventStream([
        path === "/v1/completions"
          ? { choices: [{ text: "Hi", finish_reason: "content_filter" }] }
          : delta({ content: "Hi" }, "content_filter"),
      ]),
    );
    const model = "up/far";
    const filtered = { choices: [{ finish_reason: "content_filter" }] };
    expect(await body(await server.chat({ model }))).toMatchObject(filtered);
    expect(await (await server.chat({ model, stream: true })).text()).toContain('"finish_reason":"content_filter"');
    expect(await body(await server.post("/v1/completions", { model, prompt: "hi" }))).toMatchObject(filtered);
    expect(await body(await server.post("/v1/responses", { model, input: "hi" }))).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "content_filter" },
      output: [{ status: "incomplete" }],
    });
    expect(await body(await server.post("/v1/messages", { model, max_tokens: 5, messages }))).toMatchObject({
      stop_reason: "refusal",
    });
    const ollama = { model, messages, stream: false };
    expect(await body(await server.post("/api/chat", ollama))).toMatchObject({ done_reason: "length" });
  });

  test("may interleave its calls, which every stream has one after the other", async () => {
    const piece = (index: number, name: string | undefined, json: string) =>
      delta({ tool_calls: [{ index, ...(name && { id: name }), function: { name, arguments: json } }] });
    const { server } = await gatewayServer(() =>
      eventStream([
        piece(0, "f", '{"x":'),
        piece(1, "g", '{"y":'),
        piece(0, undefined, "1}"),
        piece(1, undefined, "2}"),
        delta({}, "tool_calls"),
      ]),
    );
    const model = "up/far";
    const streamed = async (path: string, more: object) =>
      (await server.post(path, { model, messages, stream: true, ...more })).text();
    const lines = (await streamed("/v1/messages", { max_tokens: 5 })).match(/(?<="(name|partial_json)":)".*?[^\\]"/g);
    expect(lines?.map((line) => JSON.parse(line))).toEqual(["f", '{"x":', "1}", "g", '{"y":', "2}"]);
    const responses = await streamed("/v1/responses", { messages: undefined, input: "hi" });
    for (const json of ['{"x":1}', '{"y":2}']) expect(responses).toContain(`"arguments":${JSON.stringify(json)}`);
    const ollama = await streamed("/api/chat", {});
    for (const json of ['{"x":1}', '{"y":2}']) expect(ollama).toContain(`"arguments":${json}`);
  });

  test("may send text within a call, which it interrupts in no stream", async () => {
    const call = (json: string, name?: string) =>
      delta({ tool_calls: [{ index: 0, ...(name && { id: name }), function: { name, arguments: json } }] });
    const { server } = await gatewayServer(() =>
      eventStream([call('{"x":', "f"), delta({ content: "Hi" }), call("1}"), delta({}, "tool_calls")]),
    );
    const streamed = async (path: string, more: object): Promise<Record<string, any>[]> => {
      const stream = await (await server.post(path, { model: "up/far", messages, stream: true, ...more })).text();
      return [...stream.matchAll(/^(?:data: )?(\{.*)$/gm)].map(([, json = ""]) => JSON.parse(json));
    };
    const blocks = (await streamed("/v1/messages", { max_tokens: 5 })).filter(({ type }) =>
      type.startsWith("content_"),
    );
    expect(blocks).toMatchObject([
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", name: "f" } },
      { type: "content_block_delta", index: 0, delta: { partial_json: '{"x":' } },
      { type: "content_block_delta", index: 0, delta: { partial_json: "1}" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text" } },
      { type: "content_block_delta", index: 1, delta: { text: "Hi" } },
      { type: "content_block_stop", index: 1 },
    ]);
    const responses = await streamed("/v1/responses", { messages: undefined, input: "hi" });
    expect(responses.at(-1)).toMatchObject({
      response: {
        output: [
          { type: "function_call", arguments: '{"x":1}' },
          { type: "message", content: [{ text: "Hi" }] },
        ],
      },
    });
    const ollama = (await streamed("/api/chat", {})).map(({ message }) => message);
    expect(ollama.slice(-3)).toMatchObject([
      { tool_calls: [{ function: { name: "f", arguments: { x: 1 } } }] },
      { content: "Hi" },
      { content: "" },
    ]);
  });

  test("streams, and reports errors midway before the end", async () => {
    const { server } = await gatewayServer(() => eventStream([delta({ content: "Hi" })], { done: false }));
    const stream = await (await server.chat({ model: "up/far", stream: true })).text();
    expect(stream).toContain('"content":"Hi"');
    expect(stream).toContain('"code":"upstream_error"');
    expect(stream.trimEnd().endsWith("data: [DONE]")).toBe(true);
  });

  test("restarts an answer of which nothing was sent yet, in every API", async () => {
    let broken = 0;
    const breaking = chatServer(() => {
      broken++;
      return eventStream([delta({ content: "No" })], { done: false });
    });
    const far = await remote([breaking.url, chatServer(helloStream).url]);
    const server = serve(hello, {}, [far.gateway]);
    const model = "up/far";
    const [replica] = far.replicas;
    const asked = () => {
      replica?.succeeded();
      return conversationOf(far, replica).messages?.map(({ role, content }) => ({ role, content })) ?? [];
    };
    const chat = await body(await server.chat({ model, messages: asked(), n: 2 }));
    expect(chat["choices"].map(({ message }: any) => message.content)).toEqual(["Hello", "Hello"]);
    expect(chat["usage"]).toMatchObject({ completion_tokens: 4 });
    const ollama = await body(await server.post("/api/chat", { model, messages: asked(), stream: false }));
    expect(ollama).toMatchObject({ message: { content: "Hello" } });
    const background = { model, input: asked(), background: true, store: true };
    const { id } = await body(await server.post("/v1/responses", background));
    await until(() => server.requests.activeCount === 0);
    const kept = await body(await fetch(`${server.url}/v1/responses/${id}`));
    expect(JSON.stringify(kept["output"])).toContain('"text":"Hello"');
    expect(broken).toBeGreaterThanOrEqual(3);
  });

  test("is cancelled by the id of the request", async () => {
    const { server, far } = await gatewayServer(() => eventStream([delta({ content: "Hi" })], { hold: true }));
    const answer = server.chat({ model: "up/far" }, { "x-request-id": "mine" });
    await until(() => server.requests.history.live().some(({ firstTextMs }) => firstTextMs !== undefined));
    expect((await server.post("/v1/chat/completions/mine/cancel", {})).status).toBe(200);
    expect(await body(await answer)).toMatchObject({
      choices: [{ finish_reason: "cancelled", message: { content: "Hi" } }],
    });
    await until(() => far.left.length === 1);
  });

  test("reports prompt progress when its server does", async () => {
    const progress = { ...delta({}), prompt_progress: { total: 12, cache: 4, processed: 8, time_ms: 7 } };
    const far = serverOf("llamacpp", () => eventStream([progress], { hold: true }));
    const server = serve(hello, {}, [(await remote([far.url])).gateway]);
    const answer = server.chat({ model: "up/far" }, { "x-request-id": "mine" });
    const running = async () => (await body(await fetch(`${server.url}/v1/requests`)))["data"][0];
    await until(() => server.requests.history.live().some(({ processedTokens }) => processedTokens === 8));
    expect(await running()).toMatchObject({ prompt_tokens: 12, processed_prompt_tokens: 8 });
    await server.post("/v1/chat/completions/mine/cancel", {});
    expect((await body(await answer))["usage"]).toMatchObject({ prompt_tokens: 12, completion_tokens: 0 });
  });

  test("that its server does not list shares a queue with all such models, under the name of the server", async () => {
    const { gateway } = await remote([chatServer(helloStream).url]);
    const server = serve(hello, { maxQueue: 0 }, [gateway]);
    const all = { id: "all", backend: gateway.find("up/new-1")?.chat as TextBackend, places: 1024 };
    const end = new AbortController();
    const forever = async () => new Promise<never>((_, reject) => (end.signal.onabort = reject));
    const running = server.requests.run(all, end.signal, {}, { begin: forever, observe: () => {} }).next();
    const refused = await server.chat({ model: "up/new-2" });
    expect([refused.status, await body(refused)]).toMatchObject([503, { error: { code: "server_busy" } }]);
    expect((await server.chat({ model: "up/far" })).status).toBe(200);
    end.abort();
    await running.catch(() => {});
    expect(await body(await server.chat({ model: "up/new-2" }))).toMatchObject({ model: "up/new-2" });
    const { data } = await body(await fetch(`${server.url}/v1/requests`));
    expect(data.map(({ model }: { model: string }) => model)).toEqual(["up", "up", "up/far"]);
    const logged = () => server.log.lines.flatMap(({ fields }) => fields?.["model"] ?? []);
    await until(() => logged().length === 2);
    expect(logged()).toEqual(["up/far", "up"]);
  });

  test("does not wait in the queue of the local model", async () => {
    const far = chatServer(
      () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              controller.enqueue(": prefill\n\n");
              await Bun.sleep(600);
              for await (const chunk of helloStream().body ?? []) controller.enqueue(chunk);
              controller.close();
            },
          }),
          { headers: { "content-type": "text/event-stream" } },
        ),
    );
    const server = serve(hello, { queueTimeoutMs: 200 }, [(await remote([far.url])).gateway]);
    const answer = await server.chat({ model: "up/far" });
    expect(await body(answer)).toMatchObject({ choices: [{ message: { content: "Hello" } }] });
  });

  test("has places of its own: its full queue does not hold up local requests", async () => {
    const { server } = await gatewayServer(() => eventStream([], { hold: true }));
    const left = new AbortController();
    for (let count = 0; count < 20; count++) {
      void fetch(`${server.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "up/far", messages }),
        signal: left.signal,
      }).catch(() => {});
    }
    await until(() => server.requests.activeCount === 20);
    expect((await server.chat({})).status).toBe(200);
    left.abort();
    await until(() => server.requests.activeCount === 0);
  });

  test("refuses what it cannot do with the status and the field", async () => {
    const { server } = await gatewayServer(helloStream);
    const refused = await server.chat({ model: "up/far", min_p: 0.1 });
    expect([refused.status, await body(refused)]).toMatchObject([
      400,
      { error: { code: "unsupported_parameter", param: "min_p" } },
    ]);
    for (const path of ["/v1/messages/count_tokens", "/v1/responses/input_tokens"]) {
      const count = await server.post(path, { model: "up/far", messages, input: "hi" });
      expect([count.status, await body(count)]).toMatchObject([422, { error: { code: "tokenize_unsupported" } }]);
    }
    const looped = await server.post(
      "/v1/chat/completions",
      { model: "up/far", messages },
      { via: "1.1 nginx, 1.1 svc" },
    );
    expect([looped.status, await body(looped)]).toMatchObject([508, { error: { code: "loop_detected" } }]);
    // Local models answer requests that already passed an svc.
    expect((await server.post("/v1/chat/completions", { messages }, { via: "1.1 svc" })).status).toBe(200);
  });

  test("is listed after the loaded one, in stable order, and not for another svc", async () => {
    const { server } = await gatewayServer(helloStream);
    const list = async (headers = {}) => body(await fetch(`${server.url}/v1/models`, { headers }));
    const { data, models } = await list();
    expect(data.map(({ id, owned_by }: Record<string, string>) => [id, owned_by])).toEqual([
      ["fake-model", "svc"],
      ["up/far", "someone"],
      ["fake-embedding", "svc"],
      ["fake-reranker", "svc"],
      ["fake-whisper", "svc"],
      ["fake-voice", "svc"],
      ["fake-reader", "svc"],
      ["fake-drawer", "svc"],
    ]);
    expect(models[1]).toEqual({ name: "up/far", model: "up/far", capabilities: ["chat", "completion", "streaming"] });
    expect(await list()).toEqual({ object: "list", data, models });
    expect((await list({ via: "1.1 svc" }))["data"]).toHaveLength(data.length - 1);
    for (const name of [encodeURIComponent("up/far"), "up/far", "up/f%61r"]) {
      expect(await body(await fetch(`${server.url}/v1/models/${name}`))).toEqual(data[1]);
    }
    for (const name of ["up/other", "other/far", "up/", "up/far/more", "up/%zz"]) {
      const unknown = await fetch(`${server.url}/v1/models/${name}`);
      expect([unknown.status, (await body(unknown))["error"].code]).toEqual([404, "model_not_found"]);
    }
  });

  test("leaves neither keys nor text in the log", async () => {
    const { server } = await gatewayServer(() =>
      Response.json({ error: { message: "private words" } }, { status: 500 }),
    );
    const answer = await (await server.chat({ model: "up/far" })).text();
    expect(JSON.stringify(server.log.lines) + answer).not.toMatch(/secret|private words/);
  });
});

describe("a server without a local model", () => {
  test("serves models of other servers, the first when none is named, and refuses unknown names", async () => {
    const { server } = await gatewayServer(helloStream, false);
    expect(await body(await server.chat({}))).toMatchObject({ model: "up/far" });
    const unknown = await server.chat({ model: "gpt-4o" });
    expect([unknown.status, await body(unknown)]).toMatchObject([404, { error: { code: "model_not_found" } }]);
    expect((await server.post("/v1/tokenize", { text: "hi" })).status).toBe(422);
    for (const path of ["/v1/messages/count_tokens", "/v1/responses/input_tokens"]) {
      expect((await server.post(path, { messages, input: "hi" })).status).toBe(422);
      expect((await server.post(path, { model: "gpt-4o", messages, input: "hi" })).status).toBe(404);
    }
    expect(await body(await fetch(`${server.url}/health`))).toMatchObject({
      status: "healthy",
      engine: { state: "none" },
    });
    for (const path of ["/metrics", "/api/tags", "/api/ps", "/openapi.json"]) {
      expect((await fetch(server.url + path)).status).toBe(200);
    }
    expect((await fetch(`${server.url}/props`)).status).toBe(404);
  });

  test("reports when there is no model at all", async () => {
    const server = serve(hello, { serveModel: false });
    const none = await server.chat({});
    expect([none.status, await body(none)]).toMatchObject([503, { error: { code: "upstream_unavailable" } }]);
    expect(none.headers.get("retry-after")).toBe("5");
    const { models } = await body(await fetch(`${server.url}/v1/models`));
    expect(models.flatMap(({ capabilities }: { capabilities: string[] }) => capabilities)).not.toContain("chat");
  });
});

describe("an image at a URL for an upstream", () => {
  const picture = flag(8, 4);
  const pictures = { "/picture": picture, "/secret": "secret" } as const;

  async function ask(path: keyof typeof pictures, settings: Parameters<typeof serve>[1]) {
    const web = fixtureServer((one) => new Response(pictures[one.path as keyof typeof pictures]));
    const far = chatServer(helloStream);
    const { gateway } = await remote([far.url]);
    const server = serve(hello, settings, [gateway]);
    const image = { type: "image_url", image_url: { url: `${web.url}${path}` } };
    const answer = await server.chat({ model: "up/far", messages: [{ role: "user", content: [image] }] });
    const sent = far.asked.filter(({ body }) => body["messages"]).map(({ body }) => JSON.stringify(body["messages"]));
    return { status: answer.status, text: await answer.text(), sent, fetched: web.asked.length };
  }

  test("is fetched here and sent as data", async () => {
    const { status, sent, fetched } = await ask("/picture", {});
    expect([status, fetched]).toEqual([200, 1]);
    expect(sent).toEqual([expect.stringContaining(dataUrl(picture, "image/bmp"))]);
  });

  test.each([
    ["where nothing may be fetched", "/picture", { mediaFetch: false }, 0],
    ["at a private address", "/picture", { mediaFetchPrivate: false }, 0],
    ["that is no image", "/secret", {}, 1],
  ] as const)("is refused %s, and the upstream gets nothing", async (_, path, settings, requests) => {
    const { status, text, sent, fetched } = await ask(path, settings);
    expect([status, sent, fetched]).toEqual([400, [], requests]);
    expect(JSON.parse(text)).toMatchObject({ error: { param: "messages.0.content.0.image_url.url" } });
  });
});
