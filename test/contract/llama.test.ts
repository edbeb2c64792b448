// llama.cpp's /completion and /infill: the form of answers and streams, and the requests that are refused.

import { describe, expect, test } from "bun:test";
import { LlamaCompletion } from "../../src/contract/llama-completion.ts";
import { checker } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { OfferedModels } from "../../src/service/offered-models.ts";
import { systemModel } from "../../src/service/system-model.ts";
import { eventStream, fixtureServer } from "../gateway/fixture-server.ts";
import { remote } from "../gateway/remote.ts";
import { FakeEngine, type FakeScript } from "../support/fake-text-engine.ts";
import { expectGolden } from "../http/golden.ts";
import { serve } from "../http/harness.ts";
import { id } from "./asking.ts";

interface Body {
  readonly content: string;
  readonly index: number;
  readonly prompt: string;
  readonly error: { readonly param: string };
}

const json = async <T = Body>(response: Response | Promise<Response>): Promise<T> =>
  (await (await response).json()) as T;

const check = checker(LlamaCompletion);
const probability = (token: string, at: number) => ({ token, id: at, logprob: -0.5, bytes: [...Buffer.from(token)] });

const script: FakeScript = {
  steps: [
    { type: "progress", total: 12, cached: 4, processed: 12, ms: 5 },
    {
      type: "text",
      text: "one",
      tokens: [7],
      logprobs: [{ ...probability("one", 7), top: [probability("one", 7), probability("two", 8)] }],
    },
    { type: "text", text: " two\n", tokens: [8, 9], sampled: 2 },
  ],
  finish: { stopSequence: "three", tokens: { prompt: [1], answer: [7, 8, 9] } },
};

describe("POST /completion", () => {
  const ask = (body: object, config = {}) => serve(script, config).post("/completion", body, id);

  test("answers with all fields", async () => {
    const text = await (
      await ask({ prompt: "Once", n_predict: 5, n_probs: 2, return_tokens: true, stop: ["three"] })
    ).text();
    expect(check(JSON.parse(text))).toMatchObject({ content: "one two\n", tokens: [7, 8, 9], stop_type: "word" });
    await expectGolden("llama-completion.json", text);
  });

  test("streams progress, pieces with their timings, and an end, with nothing after it", async () => {
    const body = {
      prompt: "Once",
      n_predict: 5,
      n_probs: 2,
      stream: true,
      return_progress: true,
      timings_per_token: true,
    };
    const text = await (await ask(body)).text();
    const chunks = text
      .trim()
      .split("\n\n")
      .map((line) => check(JSON.parse(line.slice("data: ".length))));
    expect(chunks.map(({ content, stop, prompt_progress }) => [content, stop, prompt_progress?.processed])).toEqual([
      ["", false, 12],
      ["one", false, undefined],
      [" two\n", false, undefined],
      ["", true, undefined],
    ]);
    expect(chunks[2]).toMatchObject({ tokens: [8, 9], tokens_predicted: 3, timings: { cache_n: 4, predicted_n: 3 } });
    expect(chunks[3]).toMatchObject({ has_new_line: true, stopping_word: "three", truncated: false });
    await expectGolden("llama-completion.sse", text.replaceAll(/"timings":\{[^}]*\}/g, '"timings":{}'));
  });

  test("streams progress and timings only on request", async () => {
    const text = await (await ask({ prompt: "Once", stream: true })).text();
    expect(text.split('"stop":true')[0]).not.toMatch(/prompt_progress|timings/);
  });

  test("answers several prompts of every form, several times each, in order", async () => {
    const server = serve((request) => ({ steps: [{ text: ` after ${JSON.stringify(request.prompt)}` }] }));
    const prompt = ["A", [66], { prompt_string: "C" }, ["D", 69]];
    const answers = await json<Body[]>(server.post("/completion", { prompt, n_cmpl: 2 }));
    const expected = ['"A"', "[66]", '"C"', "[68,69]"].flatMap((text) => [` after ${text}`, ` after ${text}`]);
    expect(answers.map(({ content }) => content)).toEqual(expected);
    expect(answers.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(answers.map((answer) => answer.prompt)).toEqual(["A", "A", "B", "B", "C", "C", "DE", "DE"]);
    const mixed = await json(server.post("/completion", { prompt: [65, "B", 67] }));
    expect(mixed.content).toBe(" after [65,66,67]");
    expect(server.engine.requests.every(({ parseSpecial }) => parseSpecial)).toBe(true);
  });

  test("limits the texts in lists together, because each must be tokenized in advance", async () => {
    const server = serve(script);
    const refusal = async (prompt: unknown) => {
      const response = await server.post("/completion", { prompt });
      const { error } = await json<{ error: { code: string; message: string } }>(response);
      return `${response.status} ${error.code}: ${error.message}`;
    };
    const texts = (count: number) => Array.from({ length: count }, () => "a");
    expect(await refusal([1, ...texts(129)])).toMatch(/^400 invalid_value: 'prompt' must .* 128 texts .*; got 129\.$/);
    expect(await refusal([texts(100), texts(29)])).toContain("got 129.");
    expect(
      await refusal([
        [1, "a".repeat(5e6)],
        [1, "a".repeat(4e6)],
      ]),
    ).toMatch(/^413 payload_too_large: .*; got 9000000\.$/);
    expect(server.engine.requests).toEqual([]);
    const tokens = Array.from({ length: 129 }, () => [65]);
    const [all, many] = [[1, ...texts(128)], tokens].map((prompt) => server.post("/completion", { prompt }));
    expect([(await all)?.status, (await many)?.status]).toEqual([200, 200]);
  });

  test("refuses a prompt of too many tokens before anything is computed for it", async () => {
    const server = serve(script);
    server.engine.detokenize = () => Promise.reject(new Error("the prompt was read"));
    const tokens = Array.from({ length: 4096 }, () => 65);
    for (const prompt of [tokens, ["a", [...tokens.slice(1), "b"]]]) {
      const response = await server.post("/completion", { prompt });
      const { error } = await json<{ error: object }>(response);
      expect([response.status, error]).toEqual([
        400,
        expect.objectContaining({ code: "context_length_exceeded", param: "prompt" }),
      ]);
    }
    expect(server.engine.requests).toEqual([]);
  });

  test("returns only the fields that response_fields names, with nested ones under their full path", async () => {
    const fields = ["content", "generation_settings/top_k", "nothing", "timings/cache_n"];
    const answer = await json(ask({ prompt: "a", top_k: 7, response_fields: fields }));
    expect(answer).toEqual<unknown>({ content: "one two\n", "generation_settings/top_k": 7, "timings/cache_n": 4 });
  });

  test("computes the prompt and returns no text for n_predict 0", async () => {
    const answer = await json(ask({ prompt: "a", n_predict: 0 }));
    expect(answer).toMatchObject({ content: "", tokens: [], tokens_predicted: 0, timings: { prompt_n: 8 } });
  });

  test("switches off samplers that the list omits", async () => {
    const server = serve(script);
    await server.post("/completion", { prompt: "a", samplers: ["top_k", "temperature"], temperature: 0.5 });
    expect(server.engine.requests[0]?.sampling).toMatchObject({ temperature: 0.5, topP: 1, minP: 0, dryMultiplier: 0 });
    expect(server.engine.requests[0]?.sampling).not.toHaveProperty("topK");
  });

  test.each([undefined, null, -1, -0.01])("adaptive_p has no effect with an adaptive_target of %p", async (target) => {
    const server = serve(script);
    const body = { prompt: "a", adaptive_target: target, adaptive_decay: 0.9 };
    const samplers = ["penalties", "adaptive_p", "top_k", "temperature", "adaptive_p"];
    expect((await server.post("/completion", { ...body, samplers })).status).toBe(200);
    expect(server.engine.requests[0]?.sampling).toMatchObject({ topP: 1, minP: 0, dryMultiplier: 0, typicalP: 1 });
    expect(server.engine.requests[0]?.sampling).not.toHaveProperty("repetitionPenalty");
  });

  test("keeps n_keep tokens when the server shifts a full context, and refuses n_keep otherwise", async () => {
    const shifted = { ...script, finish: { ...script.finish, contextShifted: true } };
    const server = serve(shifted, { contextShift: true });
    const answer = await json<{ truncated: boolean; generation_settings: { n_keep: number } }>(
      server.post("/completion", { prompt: "a", n_keep: -1 }),
    );
    expect([answer.truncated, answer.generation_settings.n_keep]).toEqual([true, -1]);
    expect(server.engine.requests[0]?.keepTokens).toBe(-1);
    expect((await server.post("/completion", { prompt: "a", n_keep: -2 })).status).toBe(400);
    expect((await json(serve(script).post("/completion", { prompt: "a", n_keep: 4 }))).error.param).toBe("n_keep");
    expect((await serve(script).post("/completion", { prompt: "a", n_keep: 0 })).status).toBe(200);
  });

  test("reports a failure as an event with an error", async () => {
    const failing: FakeScript = { steps: [{ text: "x" }, { fail: new Error("secret") }] };
    const text = await (await serve(failing).post("/completion", { prompt: "a", stream: true })).text();
    expect(text).toContain('"code":"internal_error"');
    expect(text).not.toContain("secret");
  });

  test.each([
    [{}, "prompt"],
    [{ prompt: [] }, "prompt"],
    [{ prompt: [1, ["a"]] }, "prompt.1"],
    [{ prompt: { prompt_string: "a", multimodal_data: ["eA=="] } }, "prompt.multimodal_data"],
    [{ prompt: "a", n_predict: -2 }, "n_predict"],
    [{ prompt: "a", samplers: ["temperature", "top_k"] }, "samplers.1"],
    [{ prompt: "a", samplers: ["infill", "top_k"] }, "samplers.1"],
    [{ prompt: "a", n_indent: -1 }, "n_indent"],
    [{ prompt: "a", adaptive_target: 0 }, "adaptive_target"],
    [{ prompt: "a", adaptive_target: 0.5, samplers: ["top_k", "adaptive_p"] }, "adaptive_target"],
    [{ prompt: ["a", "b", "c"], n_cmpl: 86 }, "n_cmpl"],
    [{ prompt: "a", n_probs: 21 }, "n_probs"],
    [{ prompt: "a", json_schema: {}, grammar: 'root ::= "x"' }, "grammar"],
  ])("%j is refused by name", async (wrong, param) => {
    const response = await ask(wrong);
    expect(response.status).toBe(400);
    expect((await json(response)).error.param).toBe(param);
  });
});

describe("POST /completion to a model of another server", () => {
  const far = () =>
    fixtureServer(({ path }) =>
      path === "/v1/completions"
        ? eventStream([{ choices: [{ index: 0, text: "x", finish_reason: "stop" }] }])
        : undefined,
    );

  test.each([true, false])("ignores the local vocabulary for token ids (a model here: %p)", async (local) => {
    const upstream = far();
    const server = serve(script, { serveModel: local }, [(await remote([upstream.url])).gateway]);
    const post = (prompt: unknown) => server.post("/completion", { model: "up/far", prompt });
    // More than the size of the local vocabulary.
    const answer = await json(post([99_999, 2]));
    expect([answer.content, answer.prompt]).toEqual(["x", ""]);
    expect(upstream.asked.at(-1)?.body["prompt"]).toEqual([99_999, 2]);
    const mixed = await post(["a", [1, "b"]]);
    expect([mixed.status, (await json(mixed)).error.param]).toEqual([400, "prompt.1"]);
  });

  test("returns no tokens of svc-system", async () => {
    const server = serve(script, {}, [new OfferedModels([systemModel(new FakeEngine(() => script), 1)])]);
    const answer = await json(server.post("/completion", { model: "svc-system", prompt: [65] }));
    expect([answer.content, answer.prompt]).toEqual(["one two\n", ""]);
  });
});

const WRONG_STRUCTURES: readonly (readonly [object, string])[] = [
  [{ response_format: "json" }, "response_format"],
  [{ grammar: 5 }, "grammar"],
  [{ json_schema: [] }, "json_schema"],
  [{ structured_outputs: { regex: 5 } }, "structured_outputs.regex"],
  [{ guided_json: 5 }, "guided_json"],
  [{ guided_regex: 5 }, "guided_regex"],
  [{ guided_regex: "a".repeat(4001) }, "guided_regex"],
  [{ guided_choice: 5 }, "guided_choice"],
  [{ guided_choice: Array.from({ length: 20_001 }, String) }, "guided_choice"],
  [{ guided_grammar: 5 }, "guided_grammar"],
  [{ guided_decoding_backend: "outlines" }, "guided_decoding_backend"],
  [{ stop: "a".repeat(1001) }, "stop"],
];

describe.each([
  ["/completion", { prompt: "a" }],
  ["/infill", { input_prefix: "a", input_suffix: "b" }],
])("POST %s", (path, body) => {
  test("validates constraints on the answer under every field name", async () => {
    const { post } = serve(script);
    for (const [wrong, param] of WRONG_STRUCTURES) {
      const response = await post(path, { ...body, ...wrong });
      expect([response.status, (await json(response)).error.param]).toEqual([400, param]);
    }
    expect((await post(path, { ...body, guided_choice: ["one", "two"] })).status).toBe(200);
  });

  test("treats an empty stop sequence as absent", async () => {
    const server = serve(script, { stop: ["x"] });
    for (const stop of ["", [""]]) expect((await server.post(path, { ...body, stop })).status).toBe(200);
    expect(server.engine.requests.map(({ stop }) => stop)).toEqual([["x"], ["x"]]);
  });
});

describe("POST /infill", () => {
  test("passes on the gap, the text before and after it, other files and the start of the answer", async () => {
    const server = serve(script);
    const body = { input_prefix: "a(", input_suffix: ")", input_extra: [{ text: "x" }], prompt: "b", n_predict: 3 };
    const answer = await json(server.post("/infill", body));
    expect(answer).toMatchObject({ content: "one two\n", prompt: "a(" });
    expect(server.engine.requests[0]).toMatchObject({
      prompt: "a(",
      suffix: ")",
      gap: { begun: "b", files: [{ filename: "tmp", text: "x" }] },
      maxTokens: 3,
    });
  });

  test("takes the default request of editor plugins", async () => {
    const server = serve(script);
    const ends = { input_prefix: "a(", input_suffix: ")", input_extra: [], prompt: "", n_indent: 4 };
    const sampling = { top_k: 40, top_p: 0.9, samplers: ["top_k", "top_p", "infill"] };
    const limits = { n_predict: 128, stop: [], t_max_prompt_ms: 500, t_max_predict_ms: 1000, cache_prompt: true };
    const { status } = await server.post("/infill", { ...ends, ...sampling, ...limits, stream: false });
    expect(status).toBe(200);
    expect(server.engine.requests[0]?.sampling).toMatchObject({ topK: 40, topP: 0.9, minP: 0, temperature: 1 });
  });

  test.each([
    [{ input_prefix: "a" }, "input_suffix"],
    [{ input_suffix: "a" }, "input_prefix"],
    [{ input_prefix: "a", input_suffix: "b", input_extra: [{}] }, "input_extra.0.text"],
    [{ input_prefix: "a", input_suffix: "b", prompt: ["c"] }, "prompt"],
  ])("%j is refused by name", async (wrong, param) => {
    const response = await serve().post("/infill", wrong);
    expect([response.status, (await json(response)).error.param]).toEqual([400, param]);
  });

  test.each([
    ["suffix", "input_suffix"],
    ["prompt", "input_prefix"],
  ])("reports an error for '%s' under the name '%s'", async (ours, theirs) => {
    const refusal = new SvcError("unsupported_parameter", `'${ours}': none here.`, { param: ours });
    const server = serve({ steps: [{ fail: refusal }, "accept"] });
    const response = await server.post("/infill", { input_prefix: "a", input_suffix: "b" });
    expect(response.status).toBe(400);
    expect((await json(response)).error).toMatchObject({ param: theirs, message: `'${theirs}': none here.` });
  });
});
