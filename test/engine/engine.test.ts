// The engine loop with a native library without a model.

import { describe, expect, test } from "bun:test";
import { LlamaError } from "../../ffi/llama/api.ts";
import { FakeLlama } from "../support/fake-llama.ts";
import { plainRequest } from "../support/request.ts";
import { OPTIONS, startEngine } from "./engine-rig.ts";

const ask = plainRequest;
const WORDS = "the quick brown fox";

describe("a generation", () => {
  test("is accepted, started, streamed in whole characters and finished with correct counts", async () => {
    const { engine, until, finished, text, texts, messages, llama } = startEngine();
    engine.submit(1, { type: "generate", request: ask("say héllo|") });
    await until(() => finished(1) !== undefined);
    expect(messages.slice(0, 2)).toMatchObject([
      { type: "accepted", key: 1, event: { promptTokens: 11 } },
      { type: "started", keys: [1] },
    ]);
    expect(text(1)).toBe("héllo");
    expect(texts(1).every((part) => !part.text.includes("\ufffd"))).toBe(true);
    expect(finished(1)).toMatchObject({ reason: "stop", usage: { promptTokens: 11, cachedTokens: 0 } });
    expect(llama.samplers.size).toBe(0);
  });

  test("ends with length at its token limit", async () => {
    const { engine, until, finished, text } = startEngine();
    engine.submit(1, { type: "generate", request: ask("say abcdef|", { maxTokens: 3 }) });
    await until(() => finished(1) !== undefined);
    expect([text(1), finished(1)?.reason, finished(1)?.usage.completionTokens]).toEqual(["abc", "length", 3]);
  });

  test("ends with length when the context is full, instead of failing", async () => {
    const { engine, until, finished, text } = startEngine(new FakeLlama(64), { maxModelLen: 20 });
    engine.submit(1, { type: "generate", request: ask("say abcdefghijkl|", { maxTokens: 999 }) });
    await until(() => finished(1) !== undefined);
    expect([text(1), finished(1)?.reason]).toEqual(["abc", "length"]);
  });

  test("stops before a stop sequence and never emits it", async () => {
    const { engine, until, finished, text } = startEngine();
    engine.submit(1, { type: "generate", request: ask("say one two three|", { stop: ["two"] }) });
    await until(() => finished(1) !== undefined);
    expect([text(1), finished(1)?.reason]).toEqual(["one ", "stop"]);
    // Tokens sampled after the stop sequence in the same call do not count.
    expect(finished(1)?.usage.completionTokens).toBe("one two".length);
  });

  test("has log probabilities for exactly the visible tokens", async () => {
    const { engine, until, finished, texts } = startEngine();
    engine.submit(1, { type: "generate", request: ask("say abc|", { topLogprobs: 1 }) });
    await until(() => finished(1) !== undefined);
    const logprobs = texts(1).flatMap((text) => text.logprobs ?? []);
    expect(logprobs).toHaveLength(3);
    expect(logprobs[0]).toMatchObject({ logprob: -0.5, top: [{ token: "B", logprob: -1, bytes: [66] }] });
  });

  test("sends the log probabilities of a long prompt step by step, not all at once", async () => {
    const { engine, until, finished, steps } = startEngine();
    const prompt = `say abc${"x".repeat(150)}|`;
    engine.submit(1, {
      type: "generate",
      request: ask(prompt, { topLogprobs: 1, promptLogprobs: true, maxTokens: 1 }),
    });
    await until(() => finished(1) !== undefined);
    const parts = steps()
      .flatMap(({ outputs }) => outputs.flatMap(({ events }) => events))
      .filter((event) => event.type === "scored");
    const all = parts.flatMap(({ tokens }) => tokens);
    expect(parts.map(({ from }) => from)).toEqual([0, 65, 129]);
    expect(all).toHaveLength(prompt.length);
    expect(all.map(({ logprob }) => logprob === null)).toEqual([true, ...Array(prompt.length - 1).fill(false)]);
  });

  test("takes sampling parameters from the request, then flags, then the model file, then llama.cpp's defaults", async () => {
    const { engine, llama, until } = startEngine();
    engine.submit(1, { type: "generate", request: ask("say abcdefgh|", { sampling: { topP: 0.3, seed: 5 } }) });
    await until(() => llama.samplers.size === 1);
    const [config] = [...llama.samplers.values()];
    expect(config).toMatchObject({ topP: 0.3, topK: 7, temperature: 0.5, minP: 0.05, seed: 5 });
  });
});

describe("refusals", () => {
  test("a prompt longer than the context gets an error with both numbers", async () => {
    const { engine, until, messages } = startEngine(new FakeLlama(), { maxModelLen: 10 });
    engine.submit(1, { type: "generate", request: ask("x".repeat(10)) });
    await until(() => messages.length > 0);
    expect(messages[0]).toMatchObject({ type: "rejected", code: "context_length_exceeded" });
    expect(JSON.stringify(messages[0])).toMatch(/10 tokens > 9.*context length is 10 tokens/);
  });

  const wide = Object.fromEntries(Array.from({ length: 1025 }, (_, n) => [`k${n}`, n]));
  const call = { id: "1", name: "f", arguments: JSON.stringify({ deep: [wide] }) };
  const tool = (parameters: object) => ({ name: "f", description: "", parameters: { ...parameters }, enforced: {} });
  const hi = { role: "user", content: "hi" } as const;
  test.each([
    [
      "more bytes than fit",
      ask("ü".repeat(21)),
      /has at least 42 bytes.*context length is 10 tokens, which are at most 40 bytes/,
    ],
    [
      "bytes in parts",
      ask("x".repeat(40), { messages: [{ role: "user", content: [{ type: "text", text: "x".repeat(41) }] }] }),
      /41 bytes/,
    ],
    ["a raw prompt", ask("", { prompt: "x".repeat(41) }), /'prompt' has at least 41 bytes/],
    ["many messages", ask("", { messages: Array.from({ length: 4097 }, () => hi) }), /at most 4096 messages.*got 4097/],
    [
      "many parts",
      ask("", {
        messages: [
          { role: "user", content: Array.from({ length: 4096 }, () => ({ type: "text", text: "" }) as const) },
        ],
      }),
      /got 4097/,
    ],
    [
      "names for the template",
      ask("", { templateKwargs: { x: [{ y: wide }] } }),
      /'chat_template_kwargs' must have at most 1024 names.*got 1025/,
    ],
    [
      "values for the template",
      ask("", { templateKwargs: { x: Array.from({ length: 8192 }, () => 0) } }),
      /'chat_template_kwargs' must have at most 8192 values; got 8193/,
    ],
    ["names in a tool", ask("", { tools: [tool({ a: wide })] }), /'tools' must have at most 1024 names.*got 1025/],
    [
      "values in the schemas of tools",
      ask("", { tools: Array.from({ length: 10 }, () => tool({ enum: Array.from({ length: 10_000 }, () => 0) })) }),
      /'tools' must have at most 100000 values; got 100020/,
    ],
    [
      "names in arguments",
      ask("", { messages: [{ role: "assistant", content: "", toolCalls: [call] }] }),
      /'messages' must have at most 1024 names.*got 1025/,
    ],
  ])("a prompt that is too long is refused before it is rendered: %s", async (_, request, told) => {
    const { engine, llama, until, messages } = startEngine(new FakeLlama(), { maxModelLen: 10 });
    engine.submit(1, { type: "generate", request });
    await until(() => messages.length > 0);
    expect(messages[0]).toMatchObject({ type: "rejected" });
    expect(JSON.stringify(messages[0])).toMatch(told);
    expect(llama.chats).toEqual([]);
  });

  test("a prompt that is only counted may exceed the context", async () => {
    const { engine, until, messages } = startEngine(new FakeLlama(), { maxModelLen: 10 });
    engine.submit(1, { type: "count", request: ask("x".repeat(500)) });
    await until(() => messages.length > 0);
    expect(messages).toMatchObject([{ finished: [{ key: 1, event: { type: "answer", answer: "500" } }] }]);
  });

  test("the error text of a template is not shown to the client", async () => {
    const { engine, until, messages } = startEngine();
    engine.submit(1, { type: "generate", request: ask("bad template") });
    await until(() => messages.some((message) => message.type === "rejected"));
    const rejected = messages.find((message) => message.type === "rejected");
    expect(rejected).toMatchObject({ code: "invalid_value" });
    expect(JSON.stringify(rejected)).not.toContain("template says no");
    expect(messages.find((message) => message.type === "log")?.text).toContain("template says no");
  });
});

test("turns that a template refuses are not joined when a system turn has an image, which would be lost", async () => {
  const { engine, until, messages } = startEngine();
  const image = { kind: "image", url: "", detail: "auto" } as const;
  const content = [{ type: "media", source: image, param: "messages.0.images.0" }] as const;
  const [asked] = ask("bad template").messages;
  const turns = [{ role: "system", content } as const, ...(asked ? [asked, asked] : [])];
  engine.submit(1, { type: "generate", request: { ...ask(""), messages: turns } });
  await until(() => messages.length > 1);
  expect(messages.find((message) => message.type === "rejected")).toMatchObject({ code: "invalid_value" });
});

test.each([
  ["prefill-too-deep", "messages", /more than 200 values inside one another/],
  ["prefill-ambiguous", "messages", /can be read in too many ways/],
  ["prompt-too-slow", "messages", /more than 20 seconds/],
  ["prompt-too-slow", "prompt", /more than 20 seconds/],
  ["bad-grammar", "grammar", /a GBNF grammar with a rule named root/],
] as const)("what a request makes impossible is told: %s, %s", async (code, param, told) => {
  const { engine, until, messages, llama } = startEngine();
  llama.complaint = { error: "something", code };
  const raw = param === "prompt" && { messages: [], prompt: "bad template" };
  engine.submit(1, { type: "generate", request: { ...ask("bad template"), ...raw } });
  await until(() => messages.some((message) => message.type === "rejected"));
  const rejected = messages.find((message) => message.type === "rejected");
  expect(rejected).toMatchObject({ code: "invalid_value", param });
  expect(rejected?.message).toMatch(told);
  expect(messages.filter((message) => message.type === "log")).toEqual([]);
});

test("a prompt that the native library rejects fails only its own request", async () => {
  const { engine, until, messages, llama, finished, text } = startEngine();
  llama.complaint = new LlamaError("cannot submit a prompt: secret");
  engine.submit(1, { type: "generate", request: ask("say abc|") });
  for (const [at, type] of (["generate", "count", "render"] as const).entries()) {
    engine.submit(2 + at, { type, request: ask("bad template") });
  }
  engine.submit(5, { type: "tokenize", text: "bad template" });
  await until(() => finished(1) !== undefined);
  expect(text(1)).toBe("abc");
  const rejected = messages.filter((message) => message.type === "rejected");
  expect(rejected.map(({ key, code }) => [key, code])).toEqual([2, 3, 4, 5].map((key) => [key, "invalid_value"]));
  expect(JSON.stringify(rejected)).not.toContain("secret");
});

describe("many requests", () => {
  test("are decoded together, and each gets its own text", async () => {
    const { engine, until, finished, text, llama } = startEngine();
    for (let key = 1; key <= 4; key++) {
      engine.submit(key, { type: "generate", request: ask(`say answer number ${key}|`) });
    }
    await until(() => [1, 2, 3, 4].every((key) => finished(key)));
    for (let key = 1; key <= 4; key++) expect(text(key)).toBe(`answer number ${key}`);
    expect(llama.decodes.some(({ owners }) => owners.join() === "1,2,3,4")).toBe(true);
  });

  test("with adapters are computed in slices with their adapter, next to a stream without one", async () => {
    const llama = new FakeLlama(2048, 0, 16);
    llama.pauses = 5;
    const options = { maxModelLen: 1000, stallBudgetMs: 0, speculation: false };
    const { engine, until, finished, text } = startEngine(llama, options);
    const adapters = [{ id: 0, scale: 0.5 }];
    engine.submit(1, { type: "generate", request: ask(`say ${"a".repeat(200)}|`, { topLogprobs: 1 }) });
    await until(() => text(1).length > 3);
    const before = llama.decodes.length;
    engine.submit(2, { type: "generate", request: ask(`${"long ".repeat(8)}say yes|`, { adapters }) });
    await until(() => finished(2) !== undefined);
    const chunks = llama.decodes.slice(before).filter(({ rows }) => rows > 1);
    expect(chunks.map((chunk) => [chunk.rows, chunk.adapters])).toEqual([16, 16, 15].map((rows) => [rows, adapters]));
    expect(llama.slices).toBeGreaterThan(15);
    expect(text(2)).toBe("yes");
    await until(() => finished(1) !== undefined);
    expect(text(1)).toBe("a".repeat(200));
  });

  test("whose prompts are computed in slices next to streams get their text, and can be cancelled within a slice", async () => {
    const llama = new FakeLlama(2048, 0, 16);
    llama.pauses = 20;
    const { engine, until, finished, text, texts } = startEngine(llama, { maxModelLen: 2000, stallBudgetMs: 0 });
    engine.submit(1, { type: "generate", request: ask(`say ${"stream ".repeat(60)}|`, { topLogprobs: 1 }) });
    await until(() => texts(1).length > 0);
    const before = llama.decodes.length;
    for (const key of [2, 3, 4]) {
      engine.submit(key, { type: "generate", request: ask(`${key} ${"x".repeat(70)} say hello ${key}|`) });
    }
    await until(() => llama.slices > 10);
    engine.cancel(2, "id");
    await until(() => [1, 2, 3, 4].every((key) => finished(key)));
    expect([2, 3, 4].map((key) => text(key))).toEqual(["", "hello 3", "hello 4"]);
    expect(text(1)).toBe("stream ".repeat(60));
    expect(finished(2)?.reason).toBe("cancelled");
    // A step of the stream held no more of a prompt than its last token.
    expect(Math.max(...llama.decodes.slice(before).map(({ rows }) => rows))).toBeLessThanOrEqual(16);
  });

  test("send the text of fast steps together, and that of slow steps without delay", async () => {
    const messages = async (stepMs: number) => {
      // Log probabilities are read after each step, which rules out multi-step decoding.
      const { engine, until, finished, text, steps } = startEngine(new FakeLlama(256, stepMs));
      engine.submit(1, { type: "generate", request: ask(`say ${WORDS}|`, { topLogprobs: 0 }) });
      await until(() => finished(1) !== undefined);
      expect(text(1)).toBe(WORDS);
      return steps().filter(({ outputs }) => outputs.length > 0).length;
    };
    expect(await messages(0)).toBeLessThan(WORDS.length / 2);
    expect(await messages(30)).toBe(WORDS.length);
  });

  test("wait when there are more than sequences, and are all served", async () => {
    const { engine, until, finished, text, steps } = startEngine();
    const keys = Array.from({ length: 20 }, (_, index) => index + 1);
    for (const key of keys) engine.submit(key, { type: "generate", request: ask(`say hello ${key}|`) });
    await until(() => keys.every((key) => finished(key)));
    expect(keys.map(text)).toEqual(keys.map((key) => `hello ${key}`));
    expect(Math.max(...steps().map(({ report }) => report?.levels?.running ?? 0))).toBe(OPTIONS.parallel);
    expect(Math.max(...steps().map(({ report }) => report?.levels?.waiting ?? 0))).toBeGreaterThan(10);
  });
});

describe("cancel", () => {
  test("finishes with the text so far", async () => {
    const { engine, until, finished, text, llama } = startEngine(new FakeLlama(256, 30));
    engine.submit(1, { type: "generate", request: ask(`say ${"a".repeat(150)}|`) });
    await until(() => text(1).length > 3);
    engine.cancel(1, "id");
    expect(finished(1)).toMatchObject({ reason: "cancelled" });
    expect(finished(1)?.usage.completionTokens).toBe(text(1).length);
    expect(llama.samplers.size).toBe(0);
  });

  test("by a disconnect sends no finish, only the new levels", async () => {
    const { engine, until, finished, text, steps } = startEngine(new FakeLlama(256, 30));
    engine.submit(1, { type: "generate", request: ask(`say ${"a".repeat(150)}|`) });
    await until(() => text(1).length > 3);
    engine.cancel(1, "client");
    expect(finished(1)).toBeUndefined();
    expect(steps().at(-1)?.report?.levels).toMatchObject({ running: 0, waiting: 0, kv: { used: 0 } });
  });

  test("before the prompt is rendered drops the request", async () => {
    const { engine, until, finished, messages } = startEngine();
    engine.submit(1, { type: "generate", request: ask("say a|") });
    engine.cancel(1, "client");
    engine.submit(2, { type: "generate", request: ask("say b|") });
    await until(() => finished(2) !== undefined);
    expect(messages.some((message) => "key" in message && message.key === 1)).toBe(false);
  });

  test("leaves no stale state after an aborted step, even when its request goes on", async () => {
    const llama = new FakeLlama();
    const { engine, until, finished, text } = startEngine(llama);
    llama.forced.push("aborted");
    engine.submit(1, { type: "generate", request: ask("say hello|") });
    await until(() => finished(1) !== undefined);
    expect(text(1)).toBe("hello");
  });
});

test("an abort stops a shared step, and the other requests in it continue unaffected", async () => {
  const llama = new FakeLlama();
  const { engine, until, finished, text } = startEngine(llama);
  engine.submit(1, { type: "generate", request: ask("say first|") });
  engine.submit(2, { type: "generate", request: ask("say second|") });
  llama.forced.push("aborted");
  await until(() => llama.forced.length === 0);
  engine.cancel(1, "client");
  await until(() => finished(2) !== undefined);
  expect([text(1), text(2)]).toEqual(["", "second"]);
});

test("many token ids are converted to text between the steps of a stream, and not for a client that is gone", async () => {
  const { engine, llama, until, finished, last } = startEngine(new FakeLlama(2048), { maxModelLen: 1000 });
  engine.submit(1, { type: "generate", request: ask(`say ${"a".repeat(200)}|`, { topLogprobs: 1 }) });
  await until(() => llama.decodes.length > 2);
  const before = llama.decodes.length;
  // Every piece ends within a character.
  const tokens = [...new TextEncoder().encode("€".repeat(33_333))];
  engine.submit(2, { type: "detokenize", tokens });
  await until(() => last(2) !== undefined);
  expect(last(2)).toEqual({ type: "answer", answer: "€".repeat(33_333) });
  expect(llama.decodes.length - before).toBeGreaterThan(10);
  engine.submit(3, { type: "detokenize", tokens });
  engine.cancel(3, "client");
  engine.submit(4, { type: "detokenize", tokens });
  await until(() => finished(1) !== undefined && last(4) !== undefined);
  expect(last(3)).toBeUndefined();
});

test("a request counts as running while its prompt is computed", async () => {
  const { engine, until, messages } = startEngine();
  engine.submit(1, { type: "generate", request: ask("say hello|") });
  await until(() => messages.some((message) => message.type === "started"));
  expect(messages.find((message) => message.type === "accepted")).toMatchObject({ report: { levels: { waiting: 1 } } });
  expect(messages.find((message) => message.type === "started")).toMatchObject({
    report: { levels: { running: 1, waiting: 0 } },
  });
});

test("a full cache makes the newest request wait, and all finish", async () => {
  const llama = new FakeLlama();
  const { engine, until, finished, text } = startEngine(llama);
  engine.submit(1, { type: "generate", request: ask("say first|") });
  engine.submit(2, { type: "generate", request: ask("say second|") });
  llama.forced.push("no-capacity");
  await until(() => Boolean(finished(1) && finished(2)));
  expect([text(1), text(2)]).toEqual(["first", "second"]);
});

test("waiting prompt tokens are limited: further requests are refused, but never a request that waits alone", async () => {
  const { engine, until, finished, messages } = startEngine(new FakeLlama(1024, 2), {
    parallel: 1,
    maxQueueTokens: 50,
  });
  const long = `say ${"a".repeat(80)}|`;
  for (const key of [1, 2, 3]) engine.submit(key, { type: "generate", request: ask(long) });
  await until(() => Boolean(finished(1) && finished(2)));
  const rejected = messages.filter((message) => message.type === "rejected");
  expect(rejected).toMatchObject([{ key: 3, code: "server_busy", busy: "queue_tokens" }]);
  expect(rejected[0]?.message).toMatch(/\d+ prompt tokens wait in the queue; the limit is 50/);
});

test("a request that cannot begin before its deadline is refused, and nothing of it is computed", async () => {
  const { engine, until, finished, messages, llama } = startEngine();
  const late = ask("say late|", { id: "late", deadline: Date.now() - 1 });
  engine.submit(1, { type: "generate", request: late });
  engine.submit(2, { type: "generate", request: ask("say soon|", { deadline: Date.now() + 60_000 }) });
  await until(() => finished(2) !== undefined);
  const rejected = messages.filter((message) => message.type === "rejected");
  expect(rejected).toMatchObject([{ key: 1, code: "server_busy", busy: "deadline" }]);
  expect(rejected[0]?.message).toContain("X-Svc-Deadline-Ms");
  expect(messages.filter((message) => message.type === "started").flatMap(({ keys }) => keys)).toEqual([2]);
  expect(llama.samplers.size).toBe(0);
});

test("a prompt that shares a prefix with an earlier one is computed from the first difference, and reports the cached tokens", async () => {
  const llama = new FakeLlama(1024);
  const { engine, until, finished, text } = startEngine(llama);
  const common = "everything that both begin with; ";
  engine.submit(1, { type: "generate", request: ask(`${common}say one|`) });
  await until(() => finished(1) !== undefined);
  engine.submit(2, { type: "generate", request: ask(`${common}say two|`) });
  await until(() => finished(2) !== undefined);
  expect(text(2)).toBe("two");
  expect(finished(1)?.usage.cachedTokens).toBe(0);
  expect(finished(2)?.usage.cachedTokens).toBe(common.length + "say ".length);
});

test("speculative decoding is off for a model that cannot roll back", async () => {
  const rows = async (canRollBack: boolean) => {
    // Steps as slow as real ones: faster steps would use multi-step decoding.
    const llama = new FakeLlama(256, 6);
    llama.canRollBack = canRollBack;
    const { engine, until, finished, text } = startEngine(llama);
    const repeated = "abcdef".repeat(10);
    engine.submit(1, { type: "generate", request: ask(`say ${repeated}|`) });
    await until(() => finished(1) !== undefined);
    expect(text(1)).toBe(repeated);
    return llama.decodes.slice(1).map((decode) => decode.rows);
  };
  expect(Math.max(...(await rows(true)))).toBeGreaterThan(1);
  expect(Math.max(...(await rows(false)))).toBe(1);
});

test("the tokens of the draft model are verified, and the answer is the same as without it", async () => {
  const llama = new FakeLlama();
  const draft = { path: "", max: 4, pMin: 0, adaptive: false };
  const { engine, until, finished, text } = startEngine(llama, { draft });
  engine.submit(1, { type: "generate", request: ask("say nothing twice|", { stop: ["wi"] }) });
  await until(() => finished(1) !== undefined);
  expect([text(1), finished(1)?.reason]).toEqual(["nothing t", "stop"]);
  expect(llama.decodes.length).toBeLessThan(6);
  engine.submit(2, { type: "generate", request: ask("say nothing twice|", { maxTokens: 8 }) });
  await until(() => finished(2) !== undefined);
  expect([text(2), finished(2)?.usage.completionTokens]).toEqual(["nothing ", 8]);
});

test("host memory stays within its limit, even for a model whose tokens take no bytes in the cache", async () => {
  const llama = new FakeLlama(700);
  const { engine, until, finished, steps } = startEngine(llama, {
    maxModelLen: 700,
    kvTokenBytes: 0,
    cacheRamBytes: 1000,
  });
  for (const [key, letter] of ["a", "b", "c", "d", "e", "f"].entries()) {
    engine.submit(key, { type: "generate", request: ask(`${letter.repeat(400)} say ${letter}|`) });
    await until(() => finished(key) !== undefined);
  }
  expect(llama.saves).toBeGreaterThan(2);
  const saved = steps().map(({ report }) => report?.levels?.kv.host ?? 0);
  expect(Math.max(...saved)).toBeGreaterThan(400);
  expect(Math.max(...saved)).toBeLessThanOrEqual(1000);
});

test.each([false, true])(
  "a conversation evicted from the cache is restored from host memory, or computed again if lost: %p",
  async (lost) => {
    const llama = new FakeLlama(700);
    llama.losesSaved = lost;
    const { engine, until, finished, text } = startEngine(llama, { maxModelLen: 700 });
    const long = (letter: string) => `${letter.repeat(400)} say ${letter}|`;
    for (const [key, letter] of ["a", "b", "c", "a"].entries()) {
      engine.submit(key, { type: "generate", request: ask(long(letter)) });
      await until(() => finished(key) !== undefined);
      expect(text(key)).toBe(letter);
    }
    expect(llama.saves).toBeGreaterThan(0);
    expect(finished(3)?.usage.cachedTokens).toBe(lost ? 0 : 406);
  },
);
