import { describe, expect, test } from "bun:test";
import { encodeOpenAi } from "../../src/gateway/openai/encode-request.ts";
import { freePort } from "../support/free-port.ts";
import { plainRequest } from "../support/request.ts";
import { toolCall } from "../support/tool-call.ts";
import { until } from "../support/until.ts";
import { chatServer, delta, eventStream, fixtureServer, helloStream, serverOf, usage } from "./fixture-server.ts";
import { conversationOf, finishOf, generate, remote, textOf } from "./remote.ts";

const failing = (code: string) => expect.objectContaining({ code });

test("an answer is streamed with text, usage and reason, and the upstream receives all fields of the request", async () => {
  const server = chatServer(helloStream);
  const events = await generate(await remote([server.url], { key: "secret" }), {
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
    ],
    sampling: { temperature: 0.5, seed: 7 },
    maxTokens: 9,
    stop: ["\n"],
    topLogprobs: 2,
  });
  expect(events.map(({ type }) => type)).toEqual(["accepted", "started", "text", "text", "finish"]);
  expect(textOf(events)).toBe("Hello");
  expect(finishOf(events)).toMatchObject({
    reason: "stop",
    usage: { promptTokens: 7, completionTokens: 2, cachedTokens: 3 },
  });
  const { body, headers } = server.asked.at(-1) ?? { body: {}, headers: new Headers() };
  expect(body).toEqual({
    model: "far",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
    ],
    stream: true,
    stream_options: { include_usage: true },
    temperature: 0.5,
    seed: 7,
    max_tokens: 9,
    stop: ["\n"],
    logprobs: true,
    top_logprobs: 2,
  });
  expect(headers.get("authorization")).toBe("Bearer secret");
  expect(headers.get("via")).toBe("1.1 svc");
  expect(headers.get("x-request-id")).toBe("r1");
});

test("a whole answer with log probabilities, from a server that does not stream, comes in parts", async () => {
  const tokens = Array.from({ length: 3000 }, (_, at) => ` ${at}`);
  const content = tokens.map((token) => ({ token, logprob: -1, top_logprobs: [{ token, logprob: -1 }] }));
  const message = { role: "assistant", content: tokens.join("") };
  const choices = [{ index: 0, message, logprobs: { content }, finish_reason: "length" }];
  const server = chatServer(() => Response.json({ choices, usage: usage(7, 3000).usage }));
  const events = await generate(await remote([server.url]), { topLogprobs: 1, maxTokens: 3000 });
  const lists = events.flatMap((event) => (event.type === "text" ? [event.logprobs ?? []] : []));
  expect(textOf(events)).toBe(tokens.join(""));
  expect(lists.flat().map(({ token }) => token)).toEqual(tokens);
  expect(Math.max(...lists.map(({ length }) => length))).toBeLessThan(300);
  expect(finishOf(events)).toMatchObject({ reason: "length", usage: { promptTokens: 7, completionTokens: 3000 } });
});

describe("a model that refuses a usual field", () => {
  const refusing = (field: string, status: number, error: object) => {
    const server = chatServer(({ body }) => (field in body ? Response.json({ error }, { status }) : helloStream()));
    const bodies = () => server.asked.filter(({ path }) => path.endsWith("completions")).map(({ body }) => body);
    return { server, bodies };
  };

  test("gets its limit under the newer name, from the second request on at once", async () => {
    const error = {
      message: "Use 'max_completion_tokens' instead.",
      param: "max_tokens",
      code: "unsupported_parameter",
    };
    const { server, bodies } = refusing("max_tokens", 400, error);
    const far = await remote([server.url]);
    for (const limit of [9, 8]) expect(textOf(await generate(far, { maxTokens: limit }))).toBe("Hello");
    const limits = bodies().map(({ max_tokens, max_completion_tokens }) => [max_tokens, max_completion_tokens]);
    expect(limits).toEqual([
      [9, undefined],
      [undefined, 9],
      [undefined, 8],
    ]);
    expect(far.replicas[0]?.stats.failures.size).toBe(0);
  });

  test("does not get the fields that are only hints from then on", async () => {
    const hints = { user: "u", store: false };
    const known = chatServer(helloStream);
    await generate(await remote([known.url]), { hints });
    expect(known.asked.at(-1)?.body).toMatchObject(hints);
    // As Mistral's API does, which names no field.
    const error = { message: { detail: [{ type: "extra_forbidden", loc: ["body", "store"] }] } };
    const { server, bodies } = refusing("store", 422, error);
    const far = await remote([server.url]);
    for (const turn of [1, 2]) expect([turn, textOf(await generate(far, { hints }))]).toEqual([turn, "Hello"]);
    expect(bodies().map((body) => "user" in body)).toEqual([true, false, false]);
    const naming = refusing("store", 400, { param: "store" });
    const other = await remote([naming.server.url]);
    for (const turn of [1, 2]) expect([turn, textOf(await generate(other, { hints }))]).toEqual([turn, "Hello"]);
    expect(naming.bodies().map((body) => ["user" in body, "store" in body])).toEqual([
      [true, true],
      [true, false],
      [true, false],
    ]);
    // A refusal for another reason is not tried again.
    const wrong = refusing("messages", 400, { param: "messages" });
    const refused = generate(await remote([wrong.server.url]), { hints });
    await expect(refused).rejects.toMatchObject({ code: "invalid_value" });
    expect(wrong.bodies()).toHaveLength(1);
  });

  test("that has no other name reports the refusal", async () => {
    const error = { message: "too many", param: "max_tokens" };
    const server = chatServer(() => Response.json({ error }, { status: 400 }));
    const refused = generate(await remote([server.url]), { maxTokens: 9 });
    await expect(refused).rejects.toMatchObject({ code: "invalid_value", details: { param: "max_tokens" } });
    expect(server.asked.filter(({ path }) => path.endsWith("completions"))).toHaveLength(2);
  });
});

test("a schema is strict at the upstream only when the client asked for that", async () => {
  const server = chatServer(helloStream);
  const far = await remote([server.url]);
  const schema = { type: "object", properties: { a: { type: "string" } } };
  for (const strict of [true, false]) {
    await generate(far, { constraint: { schema, strict, inexpressible: false } });
    const json_schema = { name: "answer", schema, strict };
    expect(server.asked.at(-1)?.body["response_format"]).toEqual({ type: "json_schema", json_schema });
  }
});

test("a fence around JSON is left out, unless the server enforces schemas or the client wants no JSON", async () => {
  const pieces = ["``", "`json", '\n{"a"', ": 1}", "\n`", "``"];
  const answer = () => eventStream([...pieces.map((content) => delta({ content })), delta({}, "stop")]);
  const wanted = { constraint: { schema: { type: "object" }, strict: false, inexpressible: false } };
  const shown = async (owner: string, fields: object) =>
    textOf(await generate(await remote([serverOf(owner, answer).url]), fields));
  expect(await shown("someone", wanted)).toBe('{"a": 1}');
  expect(await shown("someone", {})).toBe(pieces.join(""));
  expect(await shown("vllm", wanted)).toBe(pieces.join(""));
});

test.each([
  ["llama.cpp", true, { type: "json_object" }],
  ["svc", false, { type: "json_object" }],
  ["svc", true, { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" }, strict: true } }],
] as const)(
  "a schema for any object is a JSON object, unless another svc must know that it is strict: %s, %p",
  (kind, strict, format) => {
    const request = plainRequest("hi", { constraint: { schema: { type: "object" }, strict, inexpressible: false } });
    expect(encodeOpenAi(request, "far", kind).body["response_format"]).toEqual(format);
  },
);

test("an upstream without template values receives a reasoning effort only when reasoning is requested", async () => {
  const server = chatServer(helloStream);
  const far = await remote([server.url]);
  for (const thinking of [true, false]) await generate(far, { thinking, templateKwargs: { reasoning_effort: "max" } });
  const [wanted, unwanted] = server.asked.slice(-2).map(({ body }) => body);
  expect(wanted).toMatchObject({ reasoning_effort: "high" });
  expect(unwanted).not.toHaveProperty("reasoning_effort");
});

test("calls, reasoning and log probabilities are passed on, and several complete calls with one index stay separate", async () => {
  const call = (id: string, name: string, json: string) => ({ index: 0, id, function: { name, arguments: json } });
  const logprobs = { content: [{ token: "x", logprob: -0.5, bytes: [120], top_logprobs: [] }] };
  const server = chatServer(() =>
    eventStream([
      delta({ reasoning_content: "hm" }),
      { choices: [{ index: 0, delta: { content: "x" }, logprobs, finish_reason: null }] },
      delta({ tool_calls: [call("a", "f", '{"n":')] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: "1}" } }] }),
      delta({ tool_calls: [call("b", "g", "{}")] }),
      delta({}, "tool_calls"),
    ]),
  );
  const far = await remote([server.url]);
  const events = await generate(far);
  expect(events.slice(2, -1)).toEqual([
    { type: "reasoning", text: "hm" },
    { type: "text", text: "x", logprobs: [{ token: "x", logprob: -0.5, bytes: [120], top: [] }] },
    ...toolCall("f", ['{"n":', "1}"], 0, "a"),
    ...toolCall("g", ["{}"], 1, "b"),
  ]);
  expect(finishOf(events)).toMatchObject({ reason: "tool_calls" });
  const one = await generate(far, { parallelToolCalls: false });
  expect(one.filter(({ type }) => type === "tool_call")).toHaveLength(1);
  expect(finishOf(one)).toMatchObject({ reason: "tool_calls" });
});

test("the stop sequence and the reasoning tokens are read from SGLang's fields", async () => {
  const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop", matched_stop: "END" }] };
  const counts = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 5, reasoning_tokens: 3 } };
  const server = chatServer(() => eventStream([delta({ content: "Hello" }), end, counts]));
  expect(finishOf(await generate(await remote([server.url]), { stop: ["END"] }))).toMatchObject({
    stopSequence: "END",
    usage: { reasoningTokens: 3 },
  });
});

test("an answer in one piece is accepted as well", async () => {
  const message = { role: "assistant", content: "<think>hm</think>\n\nHello" };
  const answer = { choices: [{ index: 0, message, finish_reason: "length" }], usage: usage(3, 4).usage };
  const server = chatServer(() => Response.json(answer));
  const events = await generate(await remote([server.url]));
  expect(textOf(events)).toBe("Hello");
  expect(events).toContainEqual({ type: "reasoning", text: "hm" });
  expect(finishOf(events)).toMatchObject({ reason: "length", contextFull: true, usage: { promptTokens: 3 } });
});

test("a disconnect and a cancel end the work at the upstream", async () => {
  const server = chatServer(() => eventStream([delta({ content: "a" })], { hold: true }));
  const far = await remote([server.url]);
  const client = new AbortController();
  const left = generate(far, {}, client.signal);
  await until(() => server.asked.some(({ path }) => path.endsWith("completions")));
  await Bun.sleep(20);
  client.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  await until(() => server.left.length === 1);

  const events = await generate(far, { id: "c" }, undefined, "text");
  expect(events.map(({ type }) => type)).toEqual(["accepted", "started", "text", "finish"]);
  expect(finishOf(events)).toMatchObject({ reason: "cancelled", usage: { completionTokens: 1 } });
  await until(() => server.left.length === 2);
  expect(far.replicas[0]?.isWell).toBe(true);
});

test("a request can be cancelled by its id even when another one with that id has ended", async () => {
  const server = chatServer(() => eventStream([delta({ content: "a" })], { hold: true }));
  const far = await remote([server.url]);
  const client = new AbortController();
  const asked = (count: number) =>
    until(() => server.asked.filter(({ path }) => path.endsWith("completions")).length === count);
  const older = generate(far, { id: "c" }, client.signal);
  await asked(1);
  const newer = generate(far, { id: "c" });
  await asked(2);
  client.abort(new Error("gone"));
  await expect(older).rejects.toThrow("gone");
  far.engine.cancel("c", "id");
  expect(finishOf(await newer)).toMatchObject({ reason: "cancelled" });
});

test("a request that is cancelled before its answer begins has a finish event", async () => {
  const server = chatServer(() => new Promise<never>(() => {}));
  const far = await remote([server.url]);
  const cancelled = generate(far, { id: "c" });
  await until(() => server.asked.length === 2);
  expect([far.engine.cancel("b", "id"), far.engine.cancel("c", "id")]).toEqual([false, true]);
  expect((await cancelled).map(({ type }) => type)).toEqual(["accepted", "finish"]);
  expect(far.engine.cancel("c", "id")).toBe(false);
});

test("another replica takes over before an answer begins, and a later failure is reported", async () => {
  const healthy = chatServer(helloStream);
  for (const bad of [
    () => Response.json({ error: { message: "busy" } }, { status: 503, headers: { "retry-after": "60" } }),
    () => Response.json({ error: { message: "later" } }, { status: 429 }),
    () => new Response("bad gateway", { status: 502 }),
    () => eventStream([], { done: false }),
  ]) {
    const server = chatServer(bad);
    const far = await remote([server.url, healthy.url]);
    // Each conversation has a preferred replica; with this many, some prefer the failing one.
    for (let number = 0; number < 30; number++) {
      const messages = [{ role: "user" as const, content: String(number) }];
      expect(textOf(await generate(far, { messages }))).toBe("Hello");
    }
    expect(server.asked.filter(({ path }) => path.endsWith("completions")).length).toBeGreaterThan(0);
  }
  const broken = chatServer(() => eventStream([delta({ content: "a" })], { done: false }));
  await expect(generate(await remote([broken.url]))).rejects.toEqual(failing("upstream_error"));
});

test.each([
  ["content_filter", "content_filter", false],
  ["repetition", "length", false],
  ["max_tokens", "length", false],
  ["model_length", "length", true],
])("an answer truncated for %s is reported as such", async (given, reason, isFull) => {
  const cutting = chatServer(() => eventStream([delta({ content: "x" }, given)]));
  const finish = finishOf(await generate(await remote([cutting.url])));
  expect(finish).toMatchObject({ type: "finish", reason });
  expect(finish?.contextFull === true).toBe(isFull);
});

test.each([undefined, {}, { completion_tokens: 5 }])(
  "an answer cut at its limit filled no context: %j",
  async (counts) => {
    const cutting = chatServer(() =>
      eventStream([delta({ content: "x y z" }, "length"), { choices: [], usage: counts }]),
    );
    const finish = finishOf(await generate(await remote([cutting.url]), { maxTokens: 5 }));
    expect([finish?.reason, finish?.contextFull]).toEqual(["length", undefined]);
  },
);

test("refusals, content in parts and a call in the older form are read", async () => {
  const part = (text: string) => ({ type: "text", text });
  const server = chatServer(() =>
    eventStream([
      delta({ content: [{ type: "thinking", thinking: [part("hm")] }, { type: "image_url" }] }),
      delta({ content: [part("Well, "), part("well. ")] }),
      delta({ content: null, refusal: "No." }),
      delta({ function_call: { name: "f", arguments: "" } }),
      delta({ function_call: { arguments: '{"n":' } }),
      delta({ function_call: { arguments: "1}" } }, "function_call"),
    ]),
  );
  const events = await generate(await remote([server.url]));
  expect(events.slice(2, -1)).toEqual([
    { type: "reasoning", text: "hm" },
    { type: "text", text: "Well, well. " },
    { type: "text", text: "No." },
    ...toolCall("f", ['{"n":', "1}"], 0, expect.stringMatching(/^call_/)),
  ]);
  expect(finishOf(events)).toMatchObject({ reason: "tool_calls" });
});

test.each(["abort", "error"])("an answer that the upstream ends with %s counts as a failure", async (reason) => {
  const aborted = chatServer(() => eventStream([delta({}, reason)]));
  const far = await remote([aborted.url, chatServer(helloStream).url]);
  expect(textOf(await generate(far, conversationOf(far, far.replicas[0])))).toBe("Hello");
  expect(far.replicas[0]?.stats.failures.get("upstream_unavailable")).toBe(1);
  const halfway = chatServer(() => eventStream([delta({ content: "Hel" }), delta({}, reason)]));
  await expect(generate(await remote([halfway.url]))).rejects.toEqual(failing("upstream_error"));
});

test("a refusal of an upstream is passed on with svc's codes, once, and without its text", async () => {
  const cases: [status: number, error: object, code: string, param?: string][] = [
    [400, { message: "your secret prompt", code: "invalid_value", param: "messages" }, "invalid_value", "messages"],
    [400, { type: "exceed_context_size_error", n_prompt_tokens: 90, n_ctx: 64 }, "context_length_exceeded", "messages"],
    [401, { message: "bad key" }, "upstream_error"],
    [404, { message: "no model" }, "model_not_found", "model"],
    [413, { message: "big" }, "payload_too_large"],
    [500, { message: "trace" }, "upstream_error"],
    [302, {}, "upstream_error"],
  ];
  for (const [status, error, code, param] of cases) {
    const server = chatServer(() => Response.json({ error }, { status }));
    const failure = await generate(await remote([server.url])).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code, details: param === undefined ? {} : { param } });
    expect(String(failure)).not.toContain("secret");
    expect(server.asked.filter(({ path }) => path.endsWith("completions"))).toHaveLength(1);
  }
  const server = chatServer(() => Response.json({ error: {} }, { status: 503, headers: { "retry-after": "9" } }));
  const busy = await generate(await remote([server.url])).catch((thrown: unknown) => thrown);
  expect(busy).toMatchObject({ code: "server_busy", details: { retryAfterSeconds: 9 } });
});

test.each([
  [
    "svc",
    "The prompt is too long: 90 tokens > 63. This model's maximum context length is 64 tokens, and the answer needs. secret",
  ],
  [
    "vLLM",
    "This model's maximum context length is 64 tokens. However, you requested 90 tokens (secret in the messages).",
  ],
])(
  "the token counts of a context error are reported, even when they are only in the text of the error: %s",
  async (_, message) => {
    const error = { message, code: "context_length_exceeded" };
    const server = chatServer(() => Response.json({ error }, { status: 400 }));
    const failure = await generate(await remote([server.url])).catch((thrown: unknown) => String(thrown));
    expect(failure).toContain("prompt is too long: 90 tokens > 63. This model's maximum context length is 64 tokens.");
    expect(failure).not.toContain("secret");
  },
);

test.each([
  "This model's maximum context length is 4096 tokens. However, you requested 4000 output tokens and your prompt contains at least 97 input tokens, for a total of at least 4097 tokens. secret",
  "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request has 97 input tokens (4000 > 4096 - 97). secret",
  "This model's maximum context length is 4096 tokens. However, you requested 4097 tokens (97 in the messages, 4000 in the completion). secret",
])("an answer that would not fit is distinguished from a conversation that does not fit: %s", async (message) => {
  const server = chatServer(() => Response.json({ error: { message } }, { status: 400 }));
  const failure = await generate(await remote([server.url])).catch((thrown: unknown) => thrown);
  expect(failure).toMatchObject({
    code: "context_length_exceeded",
    details: { param: "max_tokens" },
    message:
      "'max_tokens': the prompt has at least 97 tokens and the answer may have 4000, but the context of this model has 4096.",
  });
});

test("silence before or within an answer times out", async () => {
  const silent = chatServer(() => new Promise<never>(() => {}));
  await expect(generate(await remote([silent.url], { silenceMs: 500 }))).rejects.toEqual(
    failing("upstream_unavailable"),
  );
  const stuck = chatServer(() => eventStream([delta({ content: "a" })], { hold: true }));
  await expect(generate(await remote([stuck.url], { silenceMs: 500 }))).rejects.toEqual(failing("upstream_error"));
});

test("an error text that does not end times out, and one that is too long is not read further", async () => {
  const text = (hold: boolean) => {
    let sent = 0;
    const pull = (controller: ReadableStreamDefaultController) => {
      if (sent++ === 0 || !hold) controller.enqueue(new Uint8Array(64 * 1024).fill(120));
      return hold ? new Promise<void>(() => {}) : Bun.sleep(1);
    };
    return new Response(new ReadableStream({ pull }), { status: 500 });
  };
  for (const [hold, code] of [
    [true, "upstream_unavailable"],
    [false, "upstream_error"],
  ] as const) {
    const server = chatServer(() => text(hold));
    expect(await generate(await remote([server.url], { silenceMs: 300 })).catch((thrown) => thrown)).toEqual(
      failing(code),
    );
    await until(() => server.left.length === 1);
  }
});

test("unknown model names are passed on, but not remembered", async () => {
  const server = chatServer(helloStream);
  const { gateway } = await remote([server.url]);
  expect(gateway.find("up/far")?.chat).toBe(gateway.find("up/far")?.chat);
  const [one, other] = [gateway.find("up/new")?.chat, gateway.find("up/new")?.chat];
  expect([one?.model, other?.model]).toEqual(["up/new", "up/new"]);
  expect(one).not.toBe(other);
});

test("an upstream that is down is not asked, until it is back", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const far = await remote([url]);
  const [replica] = far.replicas;
  await expect(generate(far)).rejects.toEqual(failing("upstream_unavailable"));
  await until(() => replica?.isWell === false);
  expect(far.gateway.models()).toEqual([]);

  const back = chatServer(helloStream, port);
  await until(() => replica?.breaker.state === "half-open");
  await replica?.refresh();
  expect(replica?.isWell).toBe(true);
  expect(textOf(await generate(far))).toBe("Hello");
  expect(back.asked.length).toBeGreaterThan(1);
});

test("a request from another svc is not passed on again, and fields without a counterpart are refused", async () => {
  const server = chatServer(helloStream);
  const far = await remote([server.url]);
  await expect(generate(far, { forwarded: true })).rejects.toEqual(failing("loop_detected"));
  await expect(generate(far, { sampling: { mirostat: 2 } })).rejects.toMatchObject({ details: { param: "mirostat" } });
  await expect(
    generate(far, { constraint: { grammar: "root ::= x", strict: false, inexpressible: false } }),
  ).rejects.toEqual(failing("unsupported_parameter"));
  const image = { kind: "image", url: "holiday.png", detail: "auto" } as const;
  const content = [{ type: "media" as const, source: image, param: "messages.0.content.0.image_url.url" }];
  await expect(generate(far, { messages: [{ role: "user", content }] })).rejects.toEqual(
    failing("unsupported_media_input"),
  );
  await expect(far.engine.tokenize("x", new AbortController().signal)).rejects.toEqual(failing("tokenize_unsupported"));
  await Bun.sleep(10);
  expect(server.asked.map(({ path }) => path)).toEqual(["/v1/models"]);
  // Values that mean off need no counterpart.
  expect(textOf(await generate(far, { sampling: { mirostat: 0, repetitionPenalty: 1 } }))).toBe("Hello");
});

test("llama.cpp receives an assistant prefill, and its repetition in the answer is removed", async () => {
  const llama = (content: readonly string[]) =>
    fixtureServer(({ path }) => {
      if (path === "/v1/models") return Response.json({ data: [{ id: "far", owned_by: "llamacpp" }] });
      const pieces = content.map((piece) => delta({ content: piece }));
      return path === "/v1/chat/completions" ? eventStream([...pieces, delta({}, "stop")]) : undefined;
    });
  const begun = {
    messages: [
      { role: "user", content: "hi" },
      { role: "assistant", content: "The capital" },
    ],
    continueLast: true,
  } as const;
  for (const content of [
    ["The cap", "ital of", " France"],
    ["The capital of France"],
    [" of France"],
    [" of", " France"],
  ]) {
    expect(textOf(await generate(await remote([llama(content).url]), begun))).toBe(" of France");
  }
  const other = await remote([chatServer(helloStream).url]);
  await expect(generate(other, begun)).rejects.toEqual(failing("unsupported_parameter"));
  expect(textOf(await generate(other, { ...begun, continueLast: "if-possible" }))).toBe("Hello");
});
