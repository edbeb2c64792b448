import { describe, expect, test } from "bun:test";
import { decodeChat } from "../../src/dialect/chat/decode.ts";
import type { GenerationSettings } from "../../src/dialect/fields/settings.ts";
import { settings } from "../support/generation-settings.ts";

const user = { role: "user", content: "hi" };
const decode = (fields: Record<string, unknown>, overrides: Partial<GenerationSettings> = {}) =>
  decodeChat({ messages: [user], ...fields }, { ...settings, ...overrides });
const messagesOf = (...messages: unknown[]) => decode({ messages }).request.messages;

describe("messages", () => {
  test("an image is an object, or its URL as a string", () => {
    const url = "data:image/png;base64,eA==";
    const parts = [url, { url }].map((image_url) => ({ type: "image_url", image_url }));
    const source = { kind: "image", url, detail: "auto" };
    expect(messagesOf({ role: "user", content: parts })[0]?.content).toEqual([
      { type: "media", source, param: "messages.0.content.0.image_url" },
      { type: "media", source, param: "messages.0.content.1.image_url.url" },
    ] as never);
  });

  test("the detail original of an image means high", () => {
    const url = "data:image/png;base64,eA==";
    const content = [{ type: "image_url", image_url: { url, detail: "original" } }];
    expect(messagesOf({ role: "user", content })[0]?.content).toMatchObject([{ source: { detail: "high" } }]);
  });

  test("an earlier refusal is text", () => {
    const content = [
      { type: "text", text: "a" },
      { type: "refusal", refusal: "I can't." },
    ];
    expect(messagesOf(user, { role: "assistant", content }, user)[1]?.content).toBe("a\nI can't.");
    const partless = { role: "assistant", content: [{ type: "refusal", text: "x" }] };
    expect(() => messagesOf(user, partless)).toThrow("messages.1.content.0.refusal");
  });

  test("developer counts as system, and consecutive system turns are joined by a blank line", () => {
    expect(
      messagesOf({ role: "system", content: "A" }, { role: "developer", content: "B" }, user, {
        role: "system",
        content: "C",
      }),
    ).toEqual([
      { role: "system", content: "A\n\nB" },
      { role: "user", content: "hi" },
      { role: "system", content: "C" },
    ]);
  });

  test("text parts are joined by a newline, and names are kept", () => {
    const content = [
      { type: "text", text: "a" },
      { type: "text", text: "" },
      { type: "text", text: "b", extra: 1 },
    ];
    expect(messagesOf({ role: "user", name: "Ann", content })).toEqual([
      { role: "user", name: "Ann", content: "a\n\nb" },
    ]);
  });

  test("a turn of any role may lack content", () => {
    const without = [{ role: "assistant" }, { role: "assistant", content: null, tool_calls: [] }];
    expect(messagesOf(user, ...without, { role: "user", content: null }, { role: "system", content: [] })).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: "" },
      { role: "assistant", content: "" },
      { role: "user", content: "" },
      { role: "system", content: "" },
    ]);
  });

  test("a tool may return nothing", () => {
    const call = { id: "c", function: { name: "f", arguments: "{}" } };
    const [, , result] = messagesOf(
      user,
      { role: "assistant", tool_calls: [call] },
      { role: "tool", tool_call_id: "c" },
    );
    expect(result).toMatchObject({ role: "tool", toolCallId: "c", content: "" });
  });

  test("nothing is added", () => expect(messagesOf(user)).toEqual([{ role: "user", content: "hi" }]));
});

describe("fields", () => {
  test("all absent: no setting gets a value", () => {
    const { request, stream, includeUsage } = decode({});
    expect(request).toEqual({
      messages: [{ role: "user", content: "hi" }],
      tools: [],
      toolChoice: "auto",
      parallelToolCalls: true,
      templateKwargs: {},
      sampling: {},
      stop: [],
      choices: 1,
    });
    expect({ stream, includeUsage }).toEqual({ stream: false, includeUsage: true });
  });

  const names =
    "model temperature top_p top_k min_p max_tokens max_completion_tokens repetition_penalty repeat_penalty " +
    "presence_penalty frequency_penalty seed logprobs top_logprobs stop stream stream_options user tools tool_choice " +
    "parallel_tool_calls response_format chat_template_kwargs reasoning_effort n logit_bias functions function_call " +
    "audio modalities web_search_options moderation metadata store service_tier prediction verbosity grammar " +
    "reasoning_budget_tokens typical_p top_n_sigma xtc_probability xtc_threshold dynatemp_range dynatemp_exponent " +
    "repeat_last_n dry_multiplier dry_base dry_allowed_length dry_penalty_last_n dry_sequence_breakers mirostat " +
    "mirostat_tau mirostat_eta ignore_eos min_tokens";
  test("null is the same as absent, for every field", () => {
    const nulls = Object.fromEntries(names.split(" ").map((name) => [name, null]));
    expect(decode(nulls)).toEqual(decode({}));
    expect(decode({ stream_options: { include_usage: null } })).toEqual(decode({}));
  });

  test("unknown fields and fields without an effect change nothing", () => {
    const hints = {
      user: "u",
      metadata: { a: "b" },
      store: true,
      service_tier: "auto",
      safety_identifier: "s",
      prompt_cache_key: "k",
      prompt_cache_options: { mode: "auto" },
      prompt_cache_retention: "24h",
      verbosity: "low",
      prediction: { type: "content", content: "x" },
    };
    const ignored = {
      parallel_tool_calls: true,
      n: 1,
      tools: [],
      tool_choice: "auto",
      response_format: { type: "text" },
      reasoning_effort: "none",
      functions: [],
      function_call: "none",
      modalities: ["text"],
      never_heard_of: [{ deep: true }],
    };
    expect(decode(ignored)).toEqual(decode({ reasoning_effort: "none" }));
    // Upstreams may honour them.
    expect(decode({ ...ignored, ...hints }).request).toEqual({ ...decode(ignored).request, hints });
  });

  test("--stream-usage requested: usage is streamed only on request", () => {
    expect(decode({}).includeUsage).toBe(true);
    expect(decode({}, { streamUsage: "requested" }).includeUsage).toBe(false);
    const stream_options = { include_usage: true };
    expect(decode({ stream_options }, { streamUsage: "requested" }).includeUsage).toBe(true);
  });

  test("sampling values are passed on", () => {
    const fields = {
      temperature: 0,
      top_p: 0.9,
      top_k: 40,
      min_p: 0.05,
      repetition_penalty: 1.1,
      presence_penalty: -0.5,
      seed: 7,
    };
    expect(decode(fields).request.sampling).toEqual({
      temperature: 0,
      topP: 0.9,
      topK: 40,
      minP: 0.05,
      repetitionPenalty: 1.1,
      presencePenalty: -0.5,
      seed: 7,
    });
  });

  test("edge values: top_k -1 is off, top_p 0 is the most probable token, huge integers are clamped", () => {
    expect(decode({ top_k: -1 }).request.sampling.topK).toBe(0);
    expect(decode({ top_p: 0 }).request.sampling.topP).toBeGreaterThan(0);
    expect(decode({ top_k: 1e300 }).request.sampling.topK).toBe(2 ** 31 - 1);
    expect(decode({ max_tokens: 1e300 }).request.maxTokens).toBe(2 ** 31 - 1);
  });

  test("max_tokens has priority over max_completion_tokens, and both over the launch option", () => {
    expect(decode({ max_tokens: 1, max_completion_tokens: 2 }, { maxTokens: 3 }).request.maxTokens).toBe(1);
    expect(decode({ max_tokens: null, max_completion_tokens: 2 }, { maxTokens: 3 }).request.maxTokens).toBe(2);
    expect(decode({}, { maxTokens: 3 }).request.maxTokens).toBe(3);
  });

  test("repetition_penalty has priority over repeat_penalty", () => {
    expect(decode({ repetition_penalty: 1.2, repeat_penalty: 1.5 }).request.sampling.repetitionPenalty).toBe(1.2);
    expect(decode({ repeat_penalty: 1.5 }).request.sampling.repetitionPenalty).toBe(1.5);
  });

  test("seeds are folded into 32 bits, and -1 is a new random number each time", () => {
    const seed = (value: number) => decode({ seed: value }).request.sampling.seed;
    expect(seed(2 ** 32 + 5)).toBe(5);
    expect(seed(-2)).toBe(2 ** 32 - 2);
    expect(seed(0)).toBe(0);
    expect(new Set(Array.from({ length: 8 }, () => seed(-1))).size).toBeGreaterThan(1);
  });

  test("stop: launch values first, then those of the request, each once; a string is one value", () => {
    expect(decode({ stop: ["b", "a", "b"] }, { stop: ["a", "c"] }).request.stop).toEqual(["a", "c", "b"]);
    expect(decode({ stop: "x" }).request.stop).toEqual(["x"]);
    expect(decode({ stop: [] }, { stop: ["a"] }).request.stop).toEqual(["a"]);
    expect(decode({ stop: "" }, { stop: ["a"] }).request.stop).toEqual(["a"]);
    expect(decode({ stop: ["", "x"] }).request.stop).toEqual(["x"]);
    const many = Array.from({ length: 128 }, (_, at) => `${at}`);
    expect(decode({ stop: many }).request.stop).toEqual(many);
    expect(() => decode({ stop: [...many, "x"] })).toThrow("'stop'");
  });

  test("template values of the request have priority over launch values", () => {
    const kwargs = { a: 1 };
    expect(decode({ chat_template_kwargs: kwargs }, { templateKwargs: { a: 0, b: 2 } }).request.templateKwargs).toEqual(
      {
        a: 1,
        b: 2,
      },
    );
  });

  test("log probabilities: off, the chosen token alone, alternatives, and a limit that names the option", () => {
    expect(decode({ logprobs: false, top_logprobs: 0 }).request.topLogprobs).toBeUndefined();
    expect(decode({ logprobs: true }).request.topLogprobs).toBe(0);
    expect(decode({ logprobs: true, top_logprobs: 5 }, { maxLogprobs: 5 }).request.topLogprobs).toBe(5);
    const tooMany = () => decode({ logprobs: true, top_logprobs: 6 }, { maxLogprobs: 5 });
    expect(tooMany).toThrow(expect.objectContaining({ code: "invalid_value", details: { param: "top_logprobs" } }));
    expect(tooMany).toThrow(/at most 5.*--max-logprobs/);
  });

  test("names of prototype properties are plain data", () => {
    const body = JSON.parse(
      '{"messages":[{"role":"user","content":"hi"}],"__proto__":{"stream":true},"constructor":1}',
    );
    expect(decodeChat(body, settings)).toEqual(decode({}));
  });
});
