// Ollama's API, as tools see it that know no other API.

import { describe, expect, onTestFinished, test } from "bun:test";
import { OllamaAnswer, OllamaModel, OllamaModels } from "../../src/contract/ollama.ts";
import { OllamaEmbedAnswer } from "../../src/contract/ollama-embed.ts";
import { checker, type Static } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { FakeEmbedder } from "../support/fake-embedding-engine.ts";
import { FakeEngine, fakeModel, type FakeScript } from "../support/fake-text-engine.ts";
import { fixtureServer, helloStream } from "../gateway/fixture-server.ts";
import { remote } from "../gateway/remote.ts";
import { serve } from "../http/harness.ts";
import { until } from "../support/until.ts";
import { scripts, TEXT } from "./scripts.ts";

type OllamaModelList = Static<typeof OllamaModels>;
type Answer = OllamaAnswer & { readonly error?: string };
const check = checker(OllamaAnswer);
const user = [{ role: "user", content: "hi" }];
const json = async (response: Response): Promise<Answer> => (await response.json()) as Answer;
const lines = async (response: Response): Promise<Answer[]> =>
  (await response.text())
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Answer);

describe("chat", () => {
  test("streams lines by default, and the last one has the counts", async () => {
    const response = await serve(scripts.reasoning as FakeScript).post("/api/chat", { messages: user, think: true });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const told = await lines(response);
    told.forEach(check);
    expect(told.map(({ message }) => [message?.thinking, message?.content])).toEqual([
      ["Let me ", ""],
      ["see…", ""],
      [undefined, "42"],
      [undefined, ""],
    ]);
    expect(told.at(-1)).toMatchObject({ done: true, done_reason: "stop", prompt_eval_count: 12, eval_count: 3 });
    expect(told.slice(0, -1).every(({ done }) => !done)).toBe(true);
  });

  test("sends each call whole in a line of its own, and the same calls without a stream", async () => {
    const call = (index: number, args: object) => ({
      id: `call_${index + 1}`,
      function: { index, name: "weather", arguments: args },
    });
    const expected = [call(0, {}), call(1, { city: "Rome" })];
    const server = serve(scripts["two-tool-calls"] as FakeScript);
    const told = await lines(await server.post("/api/chat", { messages: user }));
    expect<unknown>(told.flatMap(({ message }) => message?.tool_calls ?? [])).toEqual(expected);
    const whole = await json(await server.post("/api/chat", { messages: user, stream: false }));
    expect<unknown>(whole.message?.tool_calls).toEqual(expected);
    check(whole);
  });

  test("continues a last message of the assistant, unless it is empty, made calls or the answer has a format", async () => {
    const server = serve(scripts.text as FakeScript);
    const begun = { role: "assistant", content: "The sky" };
    const tool_calls = [{ function: { name: "weather", arguments: {} } }];
    for (const [last, format] of [[begun], [{ ...begun, content: "" }], [{ ...begun, tool_calls }], [begun, "json"]]) {
      await (await server.post("/api/chat", { messages: [...user, last], format })).text();
    }
    const continued = server.engine.requests.map(({ continueLast }) => continueLast);
    expect(continued).toEqual(["if-possible", undefined, undefined, undefined]);
  });

  test("marks a cancelled answer as cancelled", async () => {
    const server = serve({ steps: [{ text: "a" }, { wait: new Promise(() => {}) }] });
    const pending = server.post("/api/chat", { messages: user }, { "x-request-id": "one" });
    await until(() => server.engine.live === 1);
    await (await server.post("/v1/chat/completions/one/cancel", "")).text();
    const told = await lines(await pending);
    expect(told.at(-1)).toMatchObject({ done: true, done_reason: "cancelled" });
  });

  test("matches results with the calls before them by order", async () => {
    const server = serve();
    const tool_calls = ["a", "b"].map((name) => ({ function: { name, arguments: { x: 1 } } }));
    const results = ["one", "two"].map((content) => ({ role: "tool", content }));
    await (
      await server.post("/api/chat", {
        messages: [...user, { role: "assistant", content: "", tool_calls }, ...results],
      })
    ).text();
    const { messages } = server.engine.requests[0] ?? { messages: [] };
    expect(messages[1]?.toolCalls?.map(({ id, arguments: text }) => [id, text])).toEqual([
      ["call_1_0", '{"x":1}'],
      ["call_1_1", '{"x":1}'],
    ]);
    expect(messages.slice(2).map(({ toolCallId }) => toolCallId)).toEqual(["call_1_0", "call_1_1"]);
  });

  test.each<[string, string[], object[], string[]]>([
    ["their ids", ["x", "y"], [{ tool_call_id: "y" }, { tool_call_id: "x" }], ["x 1 a", "y 0 b"]],
    ["names", [], [{ tool_name: "b" }, { tool_name: "a" }], ["call_1_0 1 a", "call_1_1 0 b"]],
    ["names before order", [], [{ tool_name: "b" }, {}], ["call_1_0 1 a", "call_1_1 0 b"]],
    ["order, for unknown names", [], [{ tool_name: "c" }, { tool_name: "b" }], ["call_1_0 0 c", "call_1_1 1 b"]],
    ["order, after one with an id", ["x", "y"], [{ tool_call_id: "x" }, {}], ["x 0 a", "y 1 b"]],
    ["order, for empty ids", ["", ""], [{ tool_call_id: "" }, {}], ["call_1_0 0 a", "call_1_1 1 b"]],
  ])("matches results with the calls before them by %s", async (_, ids, results, expected) => {
    const server = serve();
    const calls = ["a", "b"].map((name, index) => ({ id: ids[index] ?? null, function: { name, arguments: {} } }));
    const answered = results.map((result, index) => ({ role: "tool", content: `${index}`, ...result }));
    const messages = [...user, { role: "assistant", content: "", tool_calls: calls }, ...answered];
    await (await server.post("/api/chat", { messages })).text();
    const told = server.engine.requests[0]?.messages.slice(2) ?? [];
    expect(told.map(({ toolCallId, content, name }) => `${toolCallId} ${content} ${name}`)).toEqual(expected);
  });

  test("ignores unknown options, whatever their values", async () => {
    const server = serve(scripts.text as FakeScript);
    const unknown = { dry_penalty_last_n: 2 ** 31 - 1, xtc_probability: "x", logit_bias: { cat: 1 } };
    const options = { seed: 3, repeat_last_n: 5, ...unknown };
    for (const [path, asked] of [
      ["/api/chat", { messages: user }],
      ["/api/generate", { prompt: "hi" }],
    ] as const) {
      const response = await server.post(path, { ...asked, options, stream: false });
      expect(response.status).toBe(200);
    }
    const sampled = { repetitionWindow: 5, seed: 3 };
    expect(server.engine.requests.map(({ sampling }) => sampling)).toEqual([sampled, sampled]);
  });

  test("applies options, format and think", async () => {
    const server = serve();
    const options = { num_predict: 7, temperature: 0, stop: ["x"], seed: 3, repeat_last_n: 5, num_ctx: 99 };
    await (await server.post("/api/chat", { messages: user, options, format: "json", think: "low" })).text();
    expect(server.engine.requests[0]).toMatchObject({
      maxTokens: 7,
      sampling: { temperature: 0, seed: 3, repetitionWindow: 5 },
      stop: ["x"],
      thinking: true,
      constraint: { schema: { type: "object" } },
    });
  });

  test("reports a failure midway as a line with an error", async () => {
    const told = await lines(await serve(scripts.failed as FakeScript).post("/api/chat", { messages: user }));
    expect(told.at(-1)?.error).toContain("engine was killed");
  });

  test("answers an invalid request with a message", async () => {
    const response = await serve().post("/api/chat", { messages: [{ role: "wizard" }] });
    expect([response.status, typeof (await json(response)).error]).toEqual([400, "string"]);
  });
});

describe("generate", () => {
  test("answers a prompt, with system as the turn before it", async () => {
    const server = serve(scripts.text as FakeScript);
    const answer = await json(await server.post("/api/generate", { prompt: "hi", system: "Be brief.", stream: false }));
    expect(answer.response).toBe(TEXT);
    check(answer);
    expect(server.engine.requests[0]?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
  });

  test("bypasses the template with raw and suffix", async () => {
    const server = serve(scripts.text as FakeScript);
    await (await server.post("/api/generate", { prompt: "def f(", suffix: "return", stream: false })).text();
    expect(server.engine.requests[0]).toMatchObject({ prompt: "def f(", suffix: "return", messages: [] });
  });

  test("parses special tokens in a raw prompt, which a template has made, and in no other text", async () => {
    const server = serve(scripts.text as FakeScript);
    const prompt = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n";
    for (const more of [{ raw: true }, { raw: true, suffix: "!" }, { suffix: "!" }, {}]) {
      await (await server.post("/api/generate", { prompt, stream: false, ...more })).text();
    }
    const [raw, rawGap, gap, chat] = server.engine.requests;
    expect([raw, rawGap]).toMatchObject([
      { prompt, parseSpecial: true },
      { prompt, suffix: "!", parseSpecial: true },
    ]);
    expect([gap?.parseSpecial, chat?.parseSpecial]).toEqual([undefined, undefined]);
  });

  test("treats an empty suffix as absent, because some clients always send one", async () => {
    const server = serve(scripts.text as FakeScript);
    await (
      await server.post("/api/generate", {
        prompt: "hi",
        suffix: "",
        system: "",
        template: "",
        context: [],
        stream: false,
      })
    ).text();
    expect(server.engine.requests[0]?.messages).toEqual([{ role: "user", content: "hi" }]);
  });

  test.each([
    [{ template: "{{ .Prompt }}" }, "template"],
    [{ context: "a" }, "context"],
    [{ context: [1], raw: true }, "context"],
    [{ context: [1], images: ["AAAA"] }, "images"],
    [{ top_logprobs: 2 }, "top_logprobs"],
    [{ logprobs: true, top_logprobs: 21 }, "top_logprobs"],
  ])("%j is refused by name", async (field, param) => {
    const response = await serve().post("/api/generate", { prompt: "hi", ...field });
    expect([response.status, (await json(response)).error]).toEqual([400, expect.stringContaining(`'${param}'`)]);
  });

  test("returns the conversation as tokens in context, and continues from there", async () => {
    const tokens = { prompt: [1, 2], answer: [3] };
    const server = serve({ steps: [{ text: "x" }], finish: { tokens } });
    const answer = await json(await server.post("/api/generate", { prompt: "hi", stream: false }));
    expect(answer.context).toEqual([1, 2, 3]);
    const lines = await (await server.post("/api/generate", { prompt: "b", context: answer.context })).text();
    expect(JSON.parse(lines.trim().split("\n").at(-1) ?? "").context).toEqual([1, 2, 3]);
    // The fake template writes the turn as text, and its tokens are characters.
    const turn = [..."<user>b"].map((char) => char.codePointAt(0));
    expect(server.engine.requests[1]).toMatchObject({ messages: [], prompt: [1, 2, 3, ...turn] });
    const raw = await json(await server.post("/api/generate", { prompt: "hi", raw: true, stream: false }));
    expect(server.engine.requests[2]).not.toHaveProperty("returnTokens");
    expect(raw.done).toBe(true);
  });

  test("reports how long a request waited for the model to load", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ wait: gate.promise }, "accept", { text: "x" }] });
    server.engine.state = "loading";
    const wait = server.post("/api/generate", { prompt: "hi", stream: false });
    await until(() => server.engine.live === 1);
    server.clock.pass(3000);
    gate.resolve();
    const answer = await json(await wait);
    expect(answer.load_duration).toBeGreaterThanOrEqual(3e9);
    expect(answer.total_duration).toBeGreaterThanOrEqual(answer.load_duration ?? 0);
  });

  test.each([true, false])("reports no load time for a remote model (a model here: %p)", async (serveModel) => {
    const far = fixtureServer(({ path }) => (path === "/v1/chat/completions" ? helloStream() : undefined));
    const server = serve(undefined, { serveModel }, [(await remote([far.url])).gateway]);
    server.engine.state = "unloaded";
    const answer = await json(await server.post("/api/chat", { model: "up/far", messages: user, stream: false }));
    expect([answer.message?.content, answer.load_duration]).toEqual(["Hello", 0]);
  });

  test("keeps num_keep tokens when the server shifts a full context", async () => {
    const ask = async (contextShift: boolean, shift?: boolean) => {
      const server = serve(undefined, { contextShift });
      const response = await server.post("/api/generate", { prompt: "a", shift, options: { num_keep: 5 } });
      return [response.status, server.engine.requests[0]?.keepTokens];
    };
    expect(await ask(true)).toEqual([200, 5]);
    expect(await ask(true, true)).toEqual([200, 5]);
    expect(await ask(true, false)).toEqual([400, undefined]);
    expect(await ask(false, false)).toEqual([200, undefined]);
    expect(await ask(false, true)).toEqual([400, undefined]);
  });

  test("keeps the chat model for keep_alive 0, and says so", async () => {
    const reason = async (path: string, body: object) => (await json(await serve().post(path, body))).done_reason;
    expect(await reason("/api/generate", { keep_alive: 0 })).toBe("load");
    expect(await reason("/api/generate", { model: "fake-model", keep_alive: 0 })).toBe("load");
    expect(await reason("/api/chat", { messages: [], keep_alive: "0s" })).toBe("load");
    expect(await reason("/api/chat", { messages: [], keep_alive: "5m" })).toBe("load");
  });

  test("unloads a model of its own engine for keep_alive 0, unless it is working", async () => {
    const { post, embedders } = serve();
    const [embedder] = embedders as [FakeEmbedder];
    const unload = async (model: string) => {
      const { model: named, done_reason } = await json(await post("/api/generate", { model, keep_alive: 0 }));
      return [named, done_reason, embedder.state];
    };
    embedder.state = "loading";
    expect(await unload("fake-embedding")).toEqual(["fake-embedding", "load", "loading"]);
    embedder.state = "ready";
    expect(await unload("fake-embedding:latest")).toEqual(["fake-embedding", "unload", "unloaded"]);
    expect(await unload("another")).toEqual(["fake-model", "load", "unloaded"]);
    const alone = serve(undefined, { serveModel: false });
    expect((await alone.post("/api/generate", { model: "another", keep_alive: 0 })).status).toBe(404);
  });

  test("accepts a number or text as keep_alive, and no object", async () => {
    const post = (path: string, body: object) => serve().post(path, { ...body, keep_alive: { toString: 1 } });
    for (const [path, body] of Object.entries({ "/api/chat": {}, "/api/generate": {}, "/api/embed": { input: "a" } })) {
      const response = await post(path, body);
      expect([path, response.status]).toEqual([path, 400]);
      expect((await json(response)).error).toContain("'keep_alive' must be a number or a string; got an object");
    }
  });

  test("refuses images without the template", async () => {
    const response = await serve().post("/api/generate", { prompt: "hi", raw: true, images: ["AAAA"] });
    expect([response.status, (await json(response)).error]).toEqual([400, expect.stringContaining("'images'")]);
  });

  test("reports the model as loaded when there is no prompt", async () => {
    const server = serve();
    expect(await json(await server.post("/api/generate", { model: "x" }))).toMatchObject({
      done: true,
      done_reason: "load",
    });
    expect(server.engine.requests).toEqual([]);
  });

  test.each([
    ["/api/generate", {}],
    ["/api/chat", { messages: [] }],
  ])("%s without a prompt reports the model that the request names", async (path, body) => {
    const other = new FakeEngine(() => ({ steps: [] }));
    const beside = { models: () => [], find: (model: string) => (model === "other" ? { chat: backend } : undefined) };
    const backend = { model: "other", engine: other, parallel: 1 };
    const load = (model: string, serveModel: boolean) =>
      serve(scripts.text as FakeScript, { serveModel }, [beside]).post(path, { ...body, model });
    for (const serveModel of [true, false]) {
      expect(await json(await load("other", serveModel))).toMatchObject({ model: "other", done_reason: "load" });
    }
    expect(await json(await load("unknown", true))).toMatchObject({ model: "fake-model", done_reason: "load" });
    const refused = await load("unknown", false);
    expect([refused.status, (await json(refused)).error]).toEqual([404, expect.stringContaining("'model'")]);
  });
});

test("the routes that tools read first list models, one model and the version", async () => {
  const server = serve();
  const get = async (path: string): Promise<unknown> => (await fetch(server.url + path)).json();
  checker(OllamaModels)(await get("/api/tags"));
  checker(OllamaModels)(await get("/api/ps"));
  checker(OllamaModel)(await (await server.post("/api/show", { model: "x" })).json());
  expect(await get("/api/version")).toEqual({ version: "0.13.5", svc: "0.0.0-test" });
});

test.each([
  ["fake 1B Q8_0", "Q8_0"],
  ["llama 7B Q4_K - Medium", "Q4_K_M"],
  ["Flux.2 klein", ""],
])("a model that is described as %s has the quantization %j", async (description, level) => {
  const server = serve();
  server.engine.model = { ...fakeModel, description };
  const shown = checker(OllamaModel)(await (await server.post("/api/show", { model: "x" })).json());
  expect(shown.details.quantization_level).toBe(level);
});

test("models have what clients show: their own digest, and their capabilities", async () => {
  const server = serve();
  const { models } = (await (await fetch(`${server.url}/api/tags`)).json()) as OllamaModelList;
  expect(models.map(({ name }) => name)).toEqual(["fake-model", "fake-embedding"]);
  for (const { digest } of models) expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(new Set(models.map(({ digest }) => digest)).size).toBe(models.length);
  const capabilities = async (model: string) =>
    ((await (await server.post("/api/show", { model })).json()) as { capabilities: string[] }).capabilities;
  expect(await capabilities("fake-embedding")).toEqual(["embedding"]);
  for (const name of ["fake-embedding:latest", "Fake-Embedding"]) {
    expect([name, await capabilities(name)]).toEqual([name, ["embedding"]]);
    expect((await server.post("/api/embed", { model: name, input: "a" })).status).toBe(200);
  }
  expect(await capabilities("another")).toEqual(["completion", "tools", "thinking"]);
});

describe("embeddings", () => {
  const vectors = async (body: object): Promise<OllamaEmbedAnswer> =>
    (await (await serve().post("/api/embed", body)).json()) as OllamaEmbedAnswer;

  test("are made for one text or several, also in the older form", async () => {
    const several = await vectors({ model: "fake-embedding", input: ["a", "b"], keep_alive: "5m", options: {} });
    checker(OllamaEmbedAnswer)(several);
    expect([several.model, several.embeddings.length]).toEqual(["fake-embedding", 2]);
    const { embeddings } = await vectors({ input: "a" });
    expect(embeddings).toEqual(several.embeddings.slice(0, 1));
    expect((await vectors({ input: "a", dimensions: 2 })).embeddings[0]).toHaveLength(2);
    const older = await (await serve().post("/api/embeddings", { prompt: "a" })).json();
    expect<unknown>(older).toEqual({ embedding: embeddings[0] });
  });

  test("leave the model loaded, except with keep_alive 0", async () => {
    const { post, embedders } = serve();
    const [embedder] = embedders as [FakeEmbedder];
    await post("/api/embed", { input: "a", keep_alive: "5m" });
    expect(embedder.state).toBe("ready");
    for (const [path, body] of Object.entries({ "/api/embed": { input: "a" }, "/api/embeddings": { prompt: "a" } })) {
      embedder.state = "ready";
      expect((await post(path, { ...body, keep_alive: 0 })).status).toBe(200);
      expect([path, embedder.state]).toEqual([path, "unloaded"]);
    }
  });

  test("with keep_alive 0 are answered also when their model is gone meanwhile", async () => {
    const { post, router } = serve();
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    router.unload = () => Promise.reject(new SvcError("model_not_found", "It is gone."));
    expect((await post("/api/embed", { input: "a", keep_alive: 0 })).status).toBe(200);
    expect(unhandled).toEqual([]);
  });

  test("are made for as many texts as clients send at once", async () => {
    expect((await vectors({ input: Array(16_384).fill("a".repeat(400)) })).embeddings).toHaveLength(16_384);
  });

  test("are made for empty and blank texts in a list, at their places", async () => {
    const { embeddings } = await vectors({ input: ["", "a", " "] });
    const [[alone] = []] = [(await vectors({ input: "a" })).embeddings];
    expect([embeddings.length, embeddings[1], embeddings[0]?.length]).toEqual([3, alone, alone?.length]);
  });

  test("are none for an empty input, as in Ollama", async () => {
    for (const input of ["", []])
      expect(await vectors({ input })).toMatchObject({ embeddings: [], prompt_eval_count: 0 });
    const older = await (await serve().post("/api/embeddings", { prompt: "" })).json();
    expect<unknown>(older).toEqual({ embedding: [] });
  });

  test.each([
    ["/api/embed", {}, 400, "'input' is required"],
    [
      "/api/embed",
      { input: Array(16_385).fill("a") },
      400,
      "'input' must be an array of at most 16384 strings; got an array of length 16385",
    ],
    ["/api/embed", { input: 7 }, 400, "'input' must be a string"],
    ["/api/embed", { input: "a", dimensions: 0 }, 400, "'dimensions'"],
    ["/api/embed", { input: "a", model: "other" }, 404, "no embedding model of this name"],
    ["/api/embeddings", { prompt: null }, 400, "'prompt' is required: a string."],
  ])("%s refuses %j with a message", async (path, body, status, message) => {
    const response = await serve().post(path, body);
    expect([response.status, (await json(response)).error]).toEqual([status, expect.stringContaining(message)]);
  });
});

test("unknown routes answer in the form of Ollama's API", async () => {
  const server = serve();
  for (const [path, method] of [
    ["/api/nothing", "POST"],
    ["/api/chat", "GET"],
  ] as const) {
    const { error } = (await (await fetch(server.url + path, { method })).json()) as { error: unknown };
    expect(error).toContain("route");
  }
});

test("a model is described with its template and default parameters", async () => {
  const server = serve();
  server.engine.model = {
    ...fakeModel,
    chatTemplate: { source: "{{ messages }}", bos: "", eos: "" },
    defaults: { temperature: 0.7, topK: 20, repetitionPenalty: 1.1 },
  };
  const shown = (await (await server.post("/api/show", { model: "fake-model" })).json()) as Record<string, string>;
  expect(shown["template"]).toBe("{{ messages }}");
  const parameters = shown["parameters"]?.split("\n").map((line) => line.split(/ +/));
  expect(parameters).toEqual([
    ["num_ctx", "4096"],
    ["temperature", "0.7"],
    ["top_k", "20"],
    ["repeat_penalty", "1.1"],
  ]);
});

test("all routes can be switched off", async () => {
  const server = serve(undefined, { compatibilityApis: false });
  expect((await fetch(`${server.url}/api/tags`)).status).toBe(404);
  expect((await server.post("/api/chat", { messages: user })).status).toBe(404);
});
