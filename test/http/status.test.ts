import { describe, expect, spyOn, test } from "bun:test";
import type { TextPort } from "../../src/engine/text/port.ts";
import { fakeModel } from "../support/fake-text-engine.ts";
import { SvcError } from "../../src/domain/errors.ts";
import type { Metrics } from "../../src/telemetry/metrics.ts";
import { until } from "../support/until.ts";
import { hello, serve } from "./harness.ts";

interface Answer {
  readonly object: string;
  readonly count: number;
  readonly input_tokens: number;
  readonly model: string;
  readonly timestamp: number;
  readonly data: readonly { readonly id: string; readonly created: number }[];
  readonly models: readonly { readonly capabilities: readonly string[] }[];
  readonly error: Readonly<Record<string, unknown>>;
}

/** Returns the JSON of a response, of which each test reads a part. */
const read = async (response: Response | Promise<Response>) => (await (await response).json()) as Answer;
const get = (url: string) => read(fetch(url));

describe("GET /v1/models", () => {
  test("lists the loaded model with every name that clients use for its context length", async () => {
    const { url } = serve();
    const { object, data, models } = await get(`${url}/v1/models`);
    expect({ object, data: data.slice(0, 1), models: models.slice(0, 1) }).toMatchObject({
      object: "list",
      data: [
        {
          id: "fake-model",
          object: "model",
          created: fakeModel.created,
          owned_by: "svc",
          loaded: true,
          status: { value: "loaded" },
          max_context_length: 4096,
          context_window: 4096,
          max_model_len: 4096,
          context_length: 4096,
          n_ctx: 4096,
        },
      ],
      models: [{ name: "fake-model", model: "fake-model" }],
    });
  });

  test("describes one by its name, and no other", async () => {
    const { url } = serve();
    const { data } = await get(`${url}/v1/models`);
    expect(await (await fetch(`${url}/v1/models/fake-model`)).json()).toEqual(data[0]);
    const other = await fetch(`${url}/v1/models/other`);
    expect([other.status, (await read(other)).error["code"]]).toEqual([404, "model_not_found"]);
  });

  test("describes one by an alias, in either form", async () => {
    const { url } = serve(undefined, { alias: ["fake-model", "gpt-4o"] });
    for (const headers of [{}, { "anthropic-version": "2023-06-01" }]) {
      expect(await read(fetch(`${url}/v1/models/gpt-4o`, { headers }))).toMatchObject({ id: "fake-model" });
    }
  });

  test("advertises only what works", async () => {
    const { url, engine } = serve();
    const { models } = await get(`${url}/v1/models`);
    expect(models[0]?.capabilities).toEqual(expect.arrayContaining(["logprobs", "tools", "reasoning"]));
    for (const absent of ["vision", "audio", "embeddings", "batch"]) {
      expect(models[0]?.capabilities).not.toContain(absent);
    }
    const template = { tools: false, thinking: false };
    engine.model = { ...fakeModel, template, vision: true, audio: true };
    const other = await get(`${url}/v1/models`);
    expect(other.models[0]?.capabilities).toEqual(expect.arrayContaining(["vision", "audio"]));
    for (const absent of ["tools", "reasoning"]) expect(other.models[0]?.capabilities).not.toContain(absent);
    for (const streaming of [true, false]) {
      const listed = await get(`${serve(undefined, { streaming }).url}/v1/models`);
      expect(listed.models[0]?.capabilities.includes("streaming")).toBe(streaming);
    }
  });

  test("lists the model while it loads, under the same id and time", async () => {
    const { url, engine } = serve();
    const before = await get(`${url}/v1/models`);
    engine.state = "loading";
    engine.model = undefined;
    const { data } = await get(`${url}/v1/models`);
    expect(data[0]).toMatchObject({ loaded: false, status: { value: "loading" } });
    expect([data[0]?.id, data[0]?.created]).toEqual([before.data[0]?.id, before.data[0]?.created]);
  });
});

describe("GET /health", () => {
  test("reports version, time and state, and is 200 in every state", async () => {
    const { url, engine } = serve();
    for (const [state, status] of [
      ["ready", "healthy"],
      ["starting", "loading"],
      ["loading", "loading"],
      ["failed", "degraded"],
      ["stalled", "degraded"],
    ] as const) {
      engine.state = state;
      const response = await fetch(`${url}/health`);
      expect(response.status).toBe(200);
      const health = await read(response);
      expect(health).toMatchObject({ status, version: "0.0.0-test", engine: { state, restarts: 0 } });
      expect(Math.abs(health.timestamp - Date.now() / 1000)).toBeLessThan(60);
      expect((await get(`${url}/v1/health`)).timestamp).toBeGreaterThanOrEqual(health.timestamp);
    }
  });
});

describe("POST /v1/tokenize and /v1/count_tokens", () => {
  test("give the text of each of many tokens, and look up only some at a time", async () => {
    const server = serve();
    const looked = spyOn(server.engine, "pieces");
    const text = "0123456789".repeat(5000);
    const ids = Array.from(text, (piece) => piece.charCodeAt(0));
    expect(await read(server.post("/v1/tokenize", { text, return_token_strs: true }))).toMatchObject({
      tokens: ids,
      token_strs: [...text],
    });
    expect<unknown>(await read(server.post("/tokenize", { content: text, with_pieces: true }))).toEqual({
      tokens: ids.map((id, at) => ({ id, piece: text[at] })),
    });
    expect(Math.max(...looked.mock.calls.map(([some]) => some.length))).toBeLessThan(10_000);
    looked.mockClear();
    await (await server.post("/v1/count_tokens", { text, return_token_strs: true })).json();
    expect(looked).not.toHaveBeenCalled();
  });

  test("answer with the model's own tokens, their number and its length", async () => {
    const { post } = serve();
    const tokens = await read(post("/v1/tokenize", { text: "héllo" }));
    expect<unknown>(tokens).toEqual({
      tokens: [104, 233, 108, 108, 111],
      count: 5,
      model: "fake-model",
      max_model_len: 4096,
    });
    const count = await read(post("/v1/count_tokens", { text: "héllo" }));
    expect<unknown>(count).toEqual({ input_tokens: 5, model: "fake-model" });
  });

  test("add the tokens that begin and end a text, as for raw completions, unless the body says otherwise", async () => {
    const { post, engine } = serve();
    for (const path of ["/v1/tokenize", "/v1/count_tokens"]) {
      for (const fields of [{}, { add_special_tokens: null }, { add_special_tokens: false }]) {
        await (await post(path, { text: "a", ...fields })).text();
      }
    }
    const added = engine.tokenized.map(({ options }) => options.addSpecial);
    expect(added).toEqual([true, true, false, true, true, false]);
  });

  test("prefer text to prompt, and treat null and empty as absent", async () => {
    const { post } = serve();
    const count = async (body: unknown) => (await read(post("/v1/tokenize", body))).count;
    expect(await count({ text: "abc", prompt: "a" })).toBe(3);
    expect(await count({ prompt: "ab" })).toBe(2);
    expect(await count({ text: null, prompt: "ab" })).toBe(2);
    expect(await count({ text: "", prompt: "ab" })).toBe(2);
  });

  test.each([
    [{}, "text", "missing_required_parameter"],
    [{ text: null, prompt: null }, "text", "missing_required_parameter"],
    [{ prompt: "" }, "prompt", "invalid_value"],
    [{ text: "" }, "text", "invalid_value"],
    [{ text: "", prompt: "" }, "text", "invalid_value"],
  ])("refuse %j with the name of the empty field", async (body, param, code) => {
    const refused = await serve().post("/v1/tokenize", body);
    expect([refused.status, (await read(refused)).error]).toMatchObject([400, { param, code }]);
  });

  test("answer in the form of llama.cpp or vLLM, depending on the body, also for special tokens", async () => {
    const { url, post, engine } = serve();
    const options: unknown[] = [];
    const { tokenize } = engine;
    (engine as TextPort).tokenize = (text, _, given) => {
      options.push(given);
      return tokenize.call(engine, text);
    };
    const answers = [{ content: "ab" }, { prompt: "ab" }, { prompt: "ab", add_special_tokens: false }];
    const [llama, vllm, bare] = await Promise.all(answers.map((body) => read(post("/tokenize", body))));
    expect<unknown>(llama).toEqual({ tokens: [97, 98] });
    expect<unknown>(vllm).toEqual({ tokens: [97, 98], count: 2, model: "fake-model", max_model_len: 4096 });
    expect(bare).toEqual(vllm as Answer);
    expect(options).toMatchObject([
      { addSpecial: false, parseSpecial: true },
      { addSpecial: true, parseSpecial: true },
      { addSpecial: false, parseSpecial: true },
    ]);
    for (const [body, param] of [
      [{}, "content"],
      [{ content: 7 }, "content"],
      [{ prompt: 7 }, "prompt"],
      [{ prompt: "a", tools: [] }, "tools"],
    ] as const) {
      const refused = await post("/tokenize", body);
      expect([refused.status, (await read(refused)).error["param"]]).toEqual([400, param]);
    }
    engine.model = { ...fakeModel, chatTemplate: { source: "{{ messages }}", bos: "", eos: "<end>" } };
    expect<unknown>(await get(`${url}/tokenizer_info`)).toEqual({
      tokenizer_class: "llama.cpp",
      bos_token: null,
      eos_token: "<end>",
      chat_template: "{{ messages }}",
    });
  });

  test("are answered by the loaded model for the name of another", async () => {
    const { post, log } = serve(hello, { alias: ["fake-model", "nickname"] });
    const levels = async (name: string) => {
      expect((await read(post("/v1/tokenize", { model: name, text: "a" }))).model).toBe("fake-model");
      const lines = log.lines.splice(0);
      expect(JSON.stringify(lines)).not.toContain(name);
      return lines.flatMap(({ level, message }) => (message.includes("instead of the named one") ? level : []));
    };
    expect(await levels("secret-name")).toEqual(["verbose"]);
    expect(await levels("nickname")).toBeEmpty();
  });

  test.each([
    ["{}", "missing_required_parameter"],
    ['{"text":"","prompt":null}', "invalid_value"],
    ['{"text":7}', "invalid_type"],
    ['{"text":["a"]}', "invalid_type"],
    ['{"messages":[{"role":"user","content":"a"}]}', "missing_required_parameter"],
    ["[]", "invalid_type"],
    ["{", "invalid_json"],
    ["", "invalid_json"],
  ])("%s is 400 %s on both, with envelope and id", async (body, code) => {
    const { post } = serve();
    for (const path of ["/v1/tokenize", "/v1/count_tokens"]) {
      const response = await post(path, body, { "X-Request-ID": "mine" });
      expect(response.status).toBe(400);
      const { error } = await read(response);
      expect(error).toMatchObject({ type: "invalid_request_error", code, request_id: "mine" });
    }
  });

  test("refuse a body above 8 MB and accept one just below", async () => {
    const { post } = serve();
    const text = "a".repeat(8 * 1024 * 1024 - 20);
    expect((await read(post("/v1/count_tokens", { text }))).input_tokens).toBe(text.length);
    const refused = await post("/v1/count_tokens", { text: `${text}${"a".repeat(40)}` });
    expect(refused.status).toBe(413);
    expect((await read(refused)).error["code"]).toBe("payload_too_large");
  });

  test("are 503 with Retry-After when the engine is down, and 422 when it has no tokenizer", async () => {
    const { post, engine } = serve();
    const failing = (error: SvcError) => ((engine as TextPort).tokenize = () => Promise.reject(error));
    failing(new SvcError("engine_unavailable", "The model engine is down.", { retryAfterSeconds: 3 }));
    const down = await post("/v1/tokenize", { text: "a" });
    expect([down.status, down.headers.get("retry-after")]).toEqual([503, "3"]);
    failing(new SvcError("tokenize_unsupported", "This backend has no tokenizer."));
    const unsupported = await post("/v1/count_tokens", { text: "a" });
    expect(unsupported.status).toBe(422);
    expect((await read(unsupported)).error).toMatchObject({
      type: "tokenize_unsupported",
      code: "tokenize_unsupported",
    });
  });

  test("cancel the request when the client disconnects", async () => {
    const { url, engine } = serve();
    let signal: AbortSignal | undefined;
    (engine as TextPort).tokenize = (_, given) => {
      signal = given;
      return new Promise((_resolve, reject) => given.addEventListener("abort", () => reject(given.reason)));
    };
    const client = new AbortController();
    const pending = fetch(`${url}/v1/tokenize`, { method: "POST", body: '{"text":"a"}', signal: client.signal });
    await until(() => signal !== undefined);
    client.abort();
    await pending.catch(() => {});
    await until(() => signal?.aborted === true);
  });
});

describe("GET /metrics", () => {
  test("is Prometheus text with current values", async () => {
    const { url, metrics } = serve(hello);
    let version = "";
    (metrics as Metrics).render = (levels) => {
      version = levels.version;
      return "# text\n";
    };
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect([await response.text(), version]).toEqual(["# text\n", "0.0.0-test"]);
  });
});
