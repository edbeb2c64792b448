import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { symbols as common } from "../../ffi/common/symbols.ts";
import type { PromptRequest } from "../../ffi/llama/api.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { symbols } from "../../ffi/llama/symbols.ts";
import { openSymbols } from "../../ffi/runtime/library.ts";
import { developmentLibraries, fileName } from "../../ffi/runtime/native-files.ts";
import { chat as conversation, library, load, prompt, textOf, tokenize } from "./harness.ts";
import { readAnswer } from "./templates/reading.ts";

let llama: NativeLlama;

beforeAll(async () => {
  llama = library();
  await load(llama);
});
afterAll(() => llama.unload());

/** Tokens and format of a conversation. */
function chat(messages: readonly object[], enableThinking = false, kwargs = {}) {
  const { tokens, format, sampler } = prompt(llama, conversation(messages, { enableThinking, kwargs }));
  if (sampler !== undefined) llama.freeSampler(sampler);
  return { tokens, stops: format.stops };
}

describe("tokenizing", () => {
  test.each([
    ["plain text", "The quick brown fox, 1234 times."],
    ["emoji and scripts", "naïve 👩‍👩‍👧‍👦 日本語 العربية \u{1F600}"],
    ["a NUL in the middle", "before\0after"],
    ["white space", "  \t\n\n  x \r\n"],
    ["a byte order mark", "\uFEFFtext"],
    ["control tokens written out", "<|im_start|>user<|im_end|>"],
  ])("%s comes back from its tokens", (_, text) => {
    expect(textOf(llama, tokenize(llama, text))).toBe(text);
  });

  test("half a surrogate pair becomes the replacement character", () => {
    expect(textOf(llama, tokenize(llama, "a\uD800b"))).toBe("a\uFFFDb");
  });

  test("no text is no tokens", () => {
    expect(tokenize(llama, "").length).toBe(0);
  });

  test("special tokens are parsed only when asked for", () => {
    const parsed = prompt(llama, { text: "<|im_end|>", parseSpecial: true, addSpecial: false }).tokens;
    expect([...parsed]).toEqual([2]);
    expect(llama.isEnd(2)).toBe(true);
    expect(tokenize(llama, "<|im_end|>").length).toBeGreaterThan(1);
  });

  test("control tokens have no text, others have theirs; numbers that are no token have none", () => {
    expect(llama.piece(1).length).toBe(0);
    expect(textOf(llama, [3])).toBe("<think>");
    expect(llama.piece(99_999).length).toBe(0);
    expect(llama.piece(-1).length).toBe(0);
    expect(llama.isEnd(-1)).toBe(false);
  });

  test("a long word without a break", () => {
    const text = "a".repeat(200_000);
    expect(textOf(llama, tokenize(llama, text))).toBe(text);
  });
});

describe("chat templates", () => {
  const control: Readonly<Record<number, string>> = { 1: "<|im_start|>", 2: "<|im_end|>" };
  const rendered = (tokens: Int32Array) => {
    const parts = [...tokens].map((token) => Buffer.from(control[token] ?? llama.piece(token)));
    return Buffer.concat(parts).toString("utf8");
  };

  test("a conversation becomes ChatML with an empty think block", () => {
    const { tokens, stops } = chat([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: "Bye 👋" },
    ]);
    expect(rendered(tokens)).toBe(
      "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n" +
        "<|im_start|>assistant\n<think>\n\n</think>\n\nHello<|im_end|>\n" +
        "<|im_start|>user\nBye 👋<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
    );
    expect(stops).toEqual([]);
  });

  test("thinking leaves the block to the model, whichever way it is asked for", () => {
    const end = "<|im_start|>assistant\n";
    const messages = [{ role: "user", content: "Hi" }];
    expect(rendered(chat(messages, true).tokens)).toEndWith(end);
    expect(rendered(chat(messages, false, { enable_thinking: true }).tokens)).toEndWith(end);
  });

  test("a developer's message is a system message", () => {
    const { tokens } = chat([
      { role: "developer", content: "Be kind." },
      { role: "user", content: "Hi" },
    ]);
    expect(rendered(tokens)).toStartWith("<|im_start|>system\nBe kind.<|im_end|>");
  });

  test("a NUL in a message survives", () => {
    expect(rendered(chat([{ role: "user", content: "a\0b" }]).tokens)).toContain("user\na\0b<");
  });

  test("messages of another shape fail without being quoted", () => {
    const broken = [{ role: "user", secret: "swordfish" }];
    expect(() => chat(broken)).toThrow("shape");
    expect(() => chat(broken)).not.toThrow("swordfish");
  });

  test("what llama.cpp quotes of a prompt is left out of its failure", () => {
    const said = (action: () => unknown) => {
      try {
        action();
      } catch (error) {
        return String(error);
      }
      return "nothing";
    };
    const messages = [{ role: "user", content: "Hi" }];
    const tools = [{ type: "swordfish", function: { name: "a", parameters: {} } }];
    expect(said(() => prompt(llama, conversation(messages, { tools })))).toMatch(/the tools .* shape of the chat API$/);
    const prefill = [...messages, { role: "assistant", content: "swordfish" }];
    const schema = { type: "object" };
    const refused = said(() => prompt(llama, conversation(prefill, { continueLast: true, schema })));
    expect(refused).toMatch(/^LlamaError: .*grammar stack$/);
    expect(llama.takePrompt(0)).toBeUndefined();
  });

  test("a request that is no JSON fails without being quoted", () => {
    const native = openSymbols(join(developmentLibraries(), fileName("llama")), { ...common, ...symbols });
    const request = Buffer.from('{"text": "swordfish\x01"}');
    const job = native.svc_prompt_submit(request, request.length, request, 0, 0, "", 0);
    const tokens = new Int32Array(1);
    expect([native.svc_prompt_wait(10_000, tokens), tokens[0]]).toEqual([job, -1]);
    const sentence = Buffer.alloc(1000);
    const length = native.svc_last_error(sentence, sentence.length);
    expect(sentence.toString("utf8", 0, length)).toMatch(/parse error.*[^ ;]$/);
    expect(sentence.toString("utf8", 0, length)).not.toContain("swordfish");
  });

  test("a failure that clients are told of has a code", () => {
    const codeOf = (request: PromptRequest) => {
      const job = llama.submitPrompt(request);
      const result = llama.takePrompt(10_000);
      return result?.job === job && "code" in result ? result.code : undefined;
    };
    const { sampler } = conversation([]);
    const text = { text: "a", parseSpecial: false, addSpecial: false, sampler };
    expect(codeOf({ tokens: [1, 999_999] })).toBe("unknown-token");
    expect(codeOf({ ...text, suffix: "b" })).toBe("no-infill");
    expect(codeOf({ ...text, grammar: "no grammar" })).toBe("bad-grammar");
    const messages = [{ role: "user", content: "Hi" }];
    expect(codeOf(conversation(messages, { grammar: "no grammar" }))).toBe("bad-grammar");
    expect(codeOf(conversation([{ role: "user", secret: "" }]))).toBe("failed");
  });

  const submitText = (text: string, client?: string) =>
    llama.submitPrompt({ text, parseSpecial: false, addSpecial: false }, 0, client);

  test("all answers to a prompt have its tokens, and each has its own sampler", () => {
    const messages = Array.from({ length: 2000 }, (_, n) => ({ role: n % 2 ? "assistant" : "user", content: "Hi" }));
    const made = (seed: number) => {
      const request = conversation([...messages, { role: "user", content: "Hi" }]);
      return prompt(llama, { ...request, sampler: { ...request.sampler, seed } });
    };
    const first = made(1);
    const others = Array.from({ length: 20 }, (_, n) => made(n + 2));
    expect(others.every(({ tokens }) => Buffer.from(tokens.buffer).equals(Buffer.from(first.tokens.buffer)))).toBe(
      true,
    );
    const samplers = [first, ...others].flatMap(({ sampler }) => sampler ?? []);
    expect(new Set(samplers).size).toBe(21);
    samplers.forEach((sampler) => llama.freeSampler(sampler));
  });

  test("jobs come back each with its own number", () => {
    const texts = new Map(["one", "two", "three"].map((text) => [submitText(text), text]));
    for (const _ of texts) {
      const result = llama.takePrompt(10_000);
      expect(result && "tokens" in result && textOf(llama, result.tokens)).toBe(texts.get(result?.job ?? 0));
    }
    expect(llama.takePrompt(0)).toBeUndefined();
  });

  test("a short one does not wait for long ones, nor a long one for all of another client's", () => {
    const long = "the sea ".repeat(60_000);
    const first = Array.from({ length: 4 }, () => submitText(long, "a"));
    const other = submitText(long, "b");
    const short = submitText("hello", "c");
    const order = [...first, other, short].map(() => llama.takePrompt(60_000)?.job ?? 0);
    expect(order.indexOf(short)).toBeLessThan(2);
    expect(order.indexOf(other)).toBeLessThan(4);
  });

  test("one that is cancelled before it begins does not count against its client", () => {
    const take = () => llama.takePrompt(60_000)?.job ?? 0;
    const sea = (times: number) => "the sea ".repeat(times);
    // Both threads are busy, the first for longer than all the rest takes.
    const busy = [submitText(sea(300_000), "a"), submitText(sea(15_000), "b")];
    const gone = Array.from({ length: 4 }, () => submitText(sea(15_000), "c"));
    const kept = submitText(sea(15_000), "c");
    gone.forEach((job) => llama.cancelPrompt(job));
    const next = submitText(sea(14_000), "c");
    const others = [submitText(sea(25_000), "d"), submitText(sea(25_000), "d")];
    const order = Array.from({ length: 6 }, take);
    expect(order.toSorted()).toEqual([...busy, kept, next, ...others].toSorted());
    const place = (job: number | undefined) => order.indexOf(job ?? 0);
    expect(place(kept)).toBeLessThan(place(others[0]));
    expect(place(next)).toBeLessThan(place(others[1]));
  });

  test("those that are cancelled hold up nobody, and their results never come", async () => {
    const long = "the sea ".repeat(100_000);
    const begun = [submitText(long, "a"), submitText(long, "b")];
    // A thread takes one up in microseconds, and has it for much longer.
    await Bun.sleep(20);
    begun.forEach((job) => llama.cancelPrompt(job));
    const tools = [{ type: "function", function: { name: "f", description: "", parameters: {} } }];
    const next = llama.submitPrompt(conversation([{ role: "user", content: "hi" }], { tools, enforced: [{}] }), 0, "c");
    const result = llama.takePrompt(60_000);
    expect(result).toMatchObject({ job: next });
    if (result && "sampler" in result && result.sampler !== undefined) llama.freeSampler(result.sampler);
    const last = submitText(long, "a");
    expect([llama.takePrompt(60_000)?.job, llama.takePrompt(100)]).toEqual([last, undefined]);
  });

  test("one that is cancelled before it begins is never made", () => {
    const long = "the sea ".repeat(40_000);
    const jobs = [submitText(long, "a"), submitText(long, "a")];
    llama.cancelPrompt(submitText(long, "a"));
    expect([llama.takePrompt(60_000), llama.takePrompt(60_000)].map((result) => result?.job)).toEqual(jobs);
    expect(llama.takePrompt(0)).toBeUndefined();
  });
});

test("tools that the conversation describes are not in the prompt's list, and may be called", () => {
  const tool = (name: string) => ({ type: "function", function: { name, description: name, parameters: {} } });
  const ask = (tools: object[], described: number) => {
    const request = conversation([{ role: "user", content: "hi" }], { tools, described, constrain: false });
    return prompt(llama, request);
  };
  const one = ask([tool("listed")], 0);
  const two = ask([tool("listed"), tool("told_of")], 1);
  expect([...two.tokens]).toEqual([...one.tokens]);
  const text = '<tool_call>\n{"name": "told_of", "arguments": {}}\n</tool_call>';
  const read = (result: typeof one) => readAnswer(llama, result, [Buffer.from(text)]).calls.map(({ name }) => name);
  expect([read(one), read(two)]).toEqual([[], ["told_of"]]);
  for (const { sampler } of [one, two]) if (sampler !== undefined) llama.freeSampler(sampler);
});

test("a template that is no Jinja is refused with what is wrong with it, as the option's fault", async () => {
  llama.unload();
  const refused = await load(llama, { chatTemplate: "{{nope" });
  expect(refused).toMatch(/^--chat-template: .*Expected }}/);
  expect(refused).not.toContain("\n");
  expect(await load(llama)).toBeUndefined();
});

describe("thinking where nobody says", () => {
  const question = conversation([{ role: "user", content: "Hi" }]);
  const { enableThinking: _, ...unsaid } = question;
  const turn = "{{ messages[0].content }}";
  test.each([
    ["asks for it", `${turn}{% if enable_thinking is defined and not enable_thinking %}<none>{% endif %}`, "Hi"],
    ["does not", `${turn}{% if enable_thinking %}<think>{% endif %}`, "Hi"],
    [
      "asks for it by name",
      `${turn}{% if enable_thinking is not defined or enable_thinking %}<think>{% endif %}`,
      "Hi<think>",
    ],
    ["does not look", turn, "Hi"],
  ])("is as a template that %s", async (__, chatTemplate, expected) => {
    llama.unload();
    await load(llama, { chatTemplate });
    try {
      const text = (request: PromptRequest) => {
        const { tokens, sampler } = prompt(llama, request);
        if (sampler !== undefined) llama.freeSampler(sampler);
        return Buffer.concat([...tokens].map((token) => llama.piece(token, true))).toString();
      };
      expect(text(unsaid)).toBe(expected);
      const said = [true, false].map((enableThinking) => text({ ...unsaid, enableThinking }));
      expect(said).toContain(expected);
    } finally {
      llama.unload();
      await load(llama);
    }
  });
});
