// Features of single APIs with a real model: assistant prefill, chains of responses, counting.

import { describe, expect, test } from "bun:test";
import { sharedServer } from "../support/shared-server.ts";

const server = sharedServer("--ctx", "8192", "--threads", "1");

const post = (path: string, body: object) => server.post(path, body);

/** Returns every object of a stream of either kind. */
async function objects(response: Response) {
  const text = await response.text();
  return text
    .split("\n")
    .map((line) => line.replace(/^data: /, ""))
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}

const QUESTION = "What is the capital of France?";
const turns = [{ role: "user", content: QUESTION }];
describe("messages", () => {
  test("an assistant prefill is continued, not repeated", async () => {
    const messages = [...turns, { role: "assistant", content: "The capital of" }];
    const { content } = (await objects(await post("/v1/messages", { max_tokens: 50, messages, temperature: 0 })))[0];
    expect(content).toEqual([{ type: "text", text: " France is Paris." }]);
    const [{ message }] = await objects(
      await post("/api/chat", { messages, stream: false, options: { temperature: 0 } }),
    );
    expect(message.content).toBe(" France is Paris.");
  });

  test("counting yields the tokens of an actual call, including tools and system", async () => {
    const tools = [{ name: "get_weather", description: "Get the weather.", input_schema: { type: "object" } }];
    const prompt = { messages: turns, system: "Be brief.", tools };
    const { input_tokens } = (await objects(await post("/v1/messages/count_tokens", prompt)))[0];
    const { usage } = (await objects(await post("/v1/messages", { ...prompt, max_tokens: 4 })))[0];
    expect(input_tokens).toBe(usage.input_tokens + usage.cache_read_input_tokens);
    const plain = (await objects(await post("/v1/messages/count_tokens", { messages: turns })))[0];
    expect(input_tokens).toBeGreaterThan(plain.input_tokens);
  });

  test("a first system line that changes with every request is removed from the prompt", async () => {
    const count = async (system: string) =>
      (await objects(await post("/v1/messages/count_tokens", { messages: turns, system })))[0].input_tokens;
    expect(await count("x-anthropic-billing-header: cc=1; cch=abcdef;\nBe brief.")).toBe(await count("Be brief."));
  });

  test("an assistant prefill that nests endlessly crashes no engine, and is refused where a call must follow", async () => {
    const tools = [{ name: "f", input_schema: { type: "object" } }];
    const ask = async (levels: number, choice: object) => {
      const content = `<tool_call>{"name": "f", "arguments": {"a": ${"[".repeat(levels)}`;
      const messages = [...turns, { role: "assistant", content }];
      const response = await post("/v1/messages", { max_tokens: 4, messages, tools, tool_choice: choice });
      return { status: response.status, text: await response.text() };
    };
    expect((await ask(3000, { type: "auto" })).status).toBe(200);
    expect((await ask(1_000_000, { type: "auto" })).status).toBe(400);
    const refused = await ask(3000, { type: "any" });
    expect([refused.status, refused.text.includes("more than 200 values inside one another")]).toEqual([400, true]);
    expect((await server.health()).engine.restarts).toBe(0);
  });

  test("the stop sequence that ended an answer is reported", async () => {
    const body = { max_tokens: 50, messages: turns, temperature: 0, stop_sequences: ["xyz", " is"] };
    const [answer] = await objects(await post("/v1/messages", body));
    expect(answer).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: " is" });
    expect(answer.content[0].text).toBe("The capital of France");
  });
});

describe("responses", () => {
  test("a chain of responses includes the earlier turns", async () => {
    const [first] = await objects(await post("/v1/responses", { input: "My name is Bob.", temperature: 0 }));
    const next = { input: "What is my name?", previous_response_id: first.id, temperature: 0 };
    const [second] = await objects(await post("/v1/responses", next));
    expect(second.output[0].content[0].text).toContain("Bob");
  });

  test("an answer that was truncated inside a call can be continued", async () => {
    const parameters = { type: "object", properties: { text: { type: "string", minLength: 200 } }, required: ["text"] };
    const tools = [{ type: "function", name: "note", description: "Write a note.", parameters }];
    const ask = { input: "Write a note.", tools, tool_choice: "required", max_output_tokens: 24, temperature: 0 };
    const [cut] = await objects(await post("/v1/responses", ask));
    expect([cut.status, cut.output.at(-1).type]).toEqual(["incomplete", "function_call"]);
    expect(() => JSON.parse(cut.output.at(-1).arguments)).toThrow();
    const next = { input: "Go on.", previous_response_id: cut.id, tools, max_output_tokens: 4 };
    const response = await post("/v1/responses", next);
    expect([response.status, (await objects(response))[0].error]).toEqual([200, null]);
  });

  test("the result of a tool is matched by its call id", async () => {
    const tools = [
      {
        type: "function",
        name: "get_weather",
        description: "Get the weather of a city.",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    ];
    const ask = { input: "What is the weather in Paris?", tools, temperature: 0 };
    const [first] = await objects(await post("/v1/responses", ask));
    const [call] = first.output;
    expect(JSON.parse(call.arguments)).toEqual({ city: "Paris" });
    const output = { type: "function_call_output", call_id: call.call_id, output: "sunny, 22 degrees" };
    const chained = { input: [output], previous_response_id: first.id, tools, temperature: 0 };
    const [second] = await objects(await post("/v1/responses", chained));
    expect(second.output[0].content[0].text).toContain("22");
    const history = [{ role: "user", content: ask.input }, call, output];
    const [whole] = await objects(
      await post("/v1/responses", { ...chained, input: history, previous_response_id: null }),
    );
    expect(whole.output[0].content[0].text).toBe(second.output[0].content[0].text);
  });
});

test("call arguments nested deeper than a native stack are handled like any other prompt", async () => {
  const args = "[".repeat(1e6) + "]".repeat(1e6);
  const call = { id: "call_1", type: "function", function: { name: "note", arguments: args } };
  const messages = [...turns, { role: "assistant", content: null, tool_calls: [call] }, ...turns];
  const response = await post("/v1/chat/completions", { messages, max_tokens: 4 });
  const [{ error }] = await objects(response);
  expect([response.status, error.code]).toEqual([400, "context_length_exceeded"]);
  expect((await post("/v1/chat/completions", { messages: turns, max_tokens: 4 })).status).toBe(200);
}, 60_000);

test("a function without parameters is called without arguments", async () => {
  const tools = [{ type: "function", function: { name: "save", description: "Saves a text." } }];
  const messages = [{ role: "user", content: "Save the text hello." }];
  const body = { messages, tools, tool_choice: "required", max_tokens: 60, temperature: 0 };
  const [answer] = await objects(await post("/v1/chat/completions", body));
  expect(answer.choices[0].message.tool_calls[0].function).toEqual({ name: "save", arguments: "{}" });
});

test.each([
  ["/v1/completions", { prompt: [[1], [2, 999_999]] }, "prompt.1.1"],
  ["/v1/completions", { prompt: [999_999] }, "prompt.0"],
  ["/completion", { prompt: [[1], [999_999]] }, "prompt.1.0"],
  ["/completion", { prompt: [1, 999_999] }, "prompt.1"],
  ["/completion", { prompt: ["two words", 999_999] }, "prompt"],
  ["/api/generate", { prompt: "hi", context: [1, 999_999], stream: false }, "context.1"],
])("a token id unknown to the model is refused with its position: %s %j", async (path, body, field) => {
  const response = await post(path, body);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(`'${field}' must be a token id from 0 to `);
});

test("a bias for a token unknown to the model is refused", async () => {
  const response = await post("/v1/chat/completions", { messages: turns, logit_bias: { 999999: 1 } });
  expect(response.status).toBe(400);
  const [{ error }] = await objects(response);
  expect(error).toMatchObject({ code: "invalid_value", param: "logit_bias" });
  expect(error.message).toMatch(/^'logit_bias' must have token ids from 0 to \d+ for this model; got 999999\.$/);
});

describe("llama.cpp's routes", () => {
  const ask = async (path: string, body: object) => (await objects(await post(path, body)))[0];

  test("/tokenize returns tokens with their pieces, as text or bytes, and parses special tokens on request", async () => {
    const content = "Hé<|im_start|>";
    const { tokens } = await ask("/tokenize", { content, with_pieces: true });
    const bytes = (piece: string | number[]) => (typeof piece === "string" ? [...Buffer.from(piece)] : piece);
    expect(Buffer.from(tokens.flatMap(({ piece }: { piece: string }) => bytes(piece))).toString()).toContain(content);
    expect(tokens.at(-1).piece).toBe("<|im_start|>");
    expect(tokens.some(({ piece }: { piece: unknown }) => Array.isArray(piece))).toBe(true);
    const plain = await ask("/tokenize", { content, parse_special: false });
    expect(plain.tokens.length).toBeGreaterThan(tokens.length);
    expect(plain.tokens).not.toContain(tokens.at(-1).id);
  });

  test("/tokenizer_info and /tokenize give vLLM's clients the special tokens and their ids", async () => {
    const info = (await objects(await fetch(`${server.url}/tokenizer_info`)))[0];
    expect(info.chat_template).toContain("messages");
    const { tokens } = await ask("/tokenize", { prompt: info.eos_token, add_special_tokens: false });
    expect(tokens).toHaveLength(1);
    expect((await ask("/detokenize", { tokens })).prompt).toBe(info.eos_token);
  });

  test("/completion answers the output of /apply-template like the chat", async () => {
    const { prompt } = await ask("/apply-template", { messages: turns });
    const answer = await ask("/completion", { prompt, n_predict: 30, temperature: 0, return_tokens: true });
    expect(answer.content).toBe("The capital of France is Paris.");
    expect([answer.stop_type, answer.tokens.length]).toEqual(["eos", answer.tokens_predicted - 1]);
    const { prompt: open } = await ask("/apply-template", { messages: turns, add_generation_prompt: false });
    expect(prompt).toStartWith(open);
    expect(prompt.length).toBeGreaterThan(open.length);
  });

  test("a stream reports prompt progress and the ids of its tokens", async () => {
    const body = { prompt: "word ".repeat(300), n_predict: 5, stream: true, return_progress: true, ignore_eos: true };
    const chunks = await objects(await post("/completion", body));
    const progress = chunks.flatMap(({ prompt_progress }) => prompt_progress ?? []);
    expect(progress[0]).toMatchObject({ cache: 0, processed: 0, total: progress.at(-1).total });
    expect(progress.at(-1)).toMatchObject({ cache: 0, total: chunks.at(-1).tokens_evaluated });
    expect(progress.at(-1).processed).toBe(progress.at(-1).total);
    expect(chunks.flatMap(({ tokens }) => tokens)).toHaveLength(5);
  });

  test("a time limit ends an answer that has a line break", async () => {
    const { tokens } = await ask("/tokenize", { content: "\n" });
    const body = { prompt: "a", n_predict: 4000, ignore_eos: true, logit_bias: { [tokens.at(-1)]: 100 } };
    const answer = await ask("/completion", { ...body, t_max_predict_ms: 20 });
    expect([answer.stop_type, answer.truncated, answer.tokens_predicted < 3000]).toEqual(["limit", false, true]);
  });

  test("/v1/models has the file's metadata under llama.cpp's names", async () => {
    const { data, models } = (await objects(await fetch(`${server.url}/v1/models`)))[0];
    const { trained_context, parameters, bytes } = models[0];
    expect(data[0].meta).toEqual({ n_ctx: 8192, n_ctx_train: trained_context, n_params: parameters, size: bytes });
  });

  test("/props has the template, the special tokens and the default parameters", async () => {
    const props = (await objects(await fetch(`${server.url}/props`)))[0];
    expect(props.chat_template).toContain("messages");
    expect(props.bos_token + props.eos_token).toContain("<|");
    expect(props.default_generation_settings.params).toMatchObject({ top_k: 40, n_predict: -1 });
  });
});

test("chat continues the assistant's last turn, and follows choices and regular expressions", async () => {
  const ask = async (body: object) => {
    const [answer] = await objects(await post("/v1/chat/completions", { max_tokens: 20, temperature: 0, ...body }));
    return answer.choices[0].message.content as string;
  };
  const messages = [...turns, { role: "assistant", content: "The capital of" }];
  expect(await ask({ messages, continue_final_message: true })).toBe(" France is Paris.");
  expect(await ask({ messages, add_generation_prompt: false })).toBe(" France is Paris.");
  expect(["maybe", "perhaps"]).toContain(await ask({ messages: turns, guided_choice: ["maybe", "perhaps"] }));
  expect(await ask({ messages: turns, structured_outputs: { regex: "\\d{4}-é" } })).toMatch(/^\d{4}-é$/);
});

describe("log probabilities of a prompt", () => {
  interface Completion {
    readonly text: string;
    readonly logprobs: {
      readonly tokens: string[];
      readonly token_logprobs: (number | null)[];
      readonly top_logprobs: (Record<string, number> | null)[];
      readonly text_offset: number[];
    };
  }
  const complete = async (body: object): Promise<Completion> =>
    (await objects(await post("/v1/completions", { temperature: 0, logprobs: 3, ...body })))[0].choices[0];

  test("equal those with which the same tokens are generated", async () => {
    const prompt = "Once upon a time";
    const answer = await complete({ prompt, max_tokens: 100, ignore_eos: true });
    const { text, logprobs } = await complete({ prompt: prompt + answer.text, max_tokens: 0, echo: true });
    expect(text).toBe(prompt + answer.text);
    expect([logprobs.token_logprobs[0], logprobs.top_logprobs[0]]).toEqual([null, null]);
    expect(logprobs.tokens.join("")).toBe(text);
    const generated = answer.logprobs.token_logprobs;
    const scored = logprobs.token_logprobs.slice(-generated.length);
    for (const [at, value] of generated.entries()) expect(scored[at]).toBeCloseTo(value ?? 0, 0);
    expect(logprobs.tokens.slice(-generated.length)).toEqual(answer.logprobs.tokens);
  });

  test("are the same for token ids, long prompts, several prompts, and cached prompts, with the answer after them", async () => {
    const content = "The quick brown fox jumps over the lazy dog. ".repeat(30);
    const { tokens } = (await objects(await post("/tokenize", { content })))[0];
    const [alone, again, ...many] = await Promise.all([
      complete({ prompt: tokens, max_tokens: 1, echo: true }),
      complete({ prompt: tokens, max_tokens: 1, echo: true }),
      ...[1, 2, 3].map((n) => complete({ prompt: tokens.slice(n), max_tokens: 1, echo: true })),
    ]);
    expect(tokens.length).toBeGreaterThan(200);
    for (const one of [alone, again]) {
      expect(one?.logprobs.tokens).toHaveLength(tokens.length + 1);
      expect(one?.text).toStartWith(content);
      expect(one?.logprobs.token_logprobs.slice(1).every((value) => value !== null && value <= 0)).toBe(true);
    }
    for (const [at, value] of (alone?.logprobs.token_logprobs ?? []).entries()) {
      // Sums in another order, over cells of other requests.
      if (value !== null) expect(again?.logprobs.token_logprobs[at]).toBeCloseTo(value, 0);
    }
    expect(many.map(({ logprobs }) => logprobs.tokens.length)).toEqual([1, 2, 3].map((n) => tokens.length + 1 - n));
  });

  test("do not stop a concurrent stream", async () => {
    const stream = post("/v1/completions", { prompt: "a", max_tokens: 200, stream: true, ignore_eos: true });
    const { logprobs } = await complete({ prompt: "word ".repeat(500), max_tokens: 1, echo: true });
    expect(logprobs.token_logprobs.slice(1).every((value) => typeof value === "number")).toBe(true);
    expect((await objects(await stream)).length).toBeGreaterThan(2);
  });

  test("cache_prompt false computes the whole prompt", async () => {
    const ask = async (more: object) => {
      const body = { prompt: "cached words ".repeat(60), max_tokens: 1, ...more };
      return (await objects(await post("/v1/completions", body)))[0].usage.prompt_tokens_details.cached_tokens;
    };
    await ask({});
    expect(await ask({})).toBeGreaterThan(50);
    expect(await ask({ cache_prompt: false })).toBe(0);
  });
});
