// Tools, schemas, reasoning and media with real models in a running server, as clients see them.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { picture, pngFile, wavFile } from "../models/media-files.ts";
import { makeVisionModel, type VisionKind } from "../models/make-vision-model.ts";
import { sharedFolder } from "../support/folders.ts";
import { startServer, type ServerProcess } from "../support/server.ts";

interface Message {
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
}

interface Answer {
  readonly error?: { readonly code: string; readonly message: string; readonly param: string };
  readonly choices: readonly { readonly message: Message; readonly finish_reason: string }[];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly completion_tokens_details: { readonly reasoning_tokens: number };
  };
}

let server: ServerProcess;

async function ask(body: object): Promise<Answer & { status: number; headers: Headers }> {
  const response = await server.post("/v1/chat/completions", { temperature: 0, max_tokens: 200, ...body });
  return { status: response.status, headers: response.headers, ...((await response.json()) as Answer) };
}

interface Count {
  readonly status: number;
  readonly input_tokens?: number;
  readonly error?: Answer["error"];
}

/** Returns the result of a counting route. */
async function count(path: string, body: object): Promise<Count> {
  const response = await server.post(path, body);
  return { status: response.status, ...((await response.json()) as Omit<Count, "status">) };
}

/** Sends the same request as a stream and merges its deltas as SDKs do. */
async function askStreamed(body: object): Promise<{ message: Message; finish: string; chunks: number }> {
  const response = await server.post("/v1/chat/completions", {
    temperature: 0,
    max_tokens: 200,
    stream: true,
    ...body,
  });
  const text = await response.text();
  const message = {
    content: "",
    reasoning_content: "",
    tool_calls: [] as { id: string; function: { name: string; arguments: string } }[],
  };
  let finish = "";
  let chunks = 0;
  for (const line of text.split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const [choice] = JSON.parse(line.slice(6)).choices;
    if (!choice) continue;
    chunks++;
    message.content += choice.delta.content ?? "";
    message.reasoning_content += choice.delta.reasoning_content ?? "";
    for (const call of choice.delta.tool_calls ?? []) {
      if (call.id) message.tool_calls[call.index] = { id: call.id, function: { ...call.function } };
      else {
        const begun = message.tool_calls[call.index];
        if (begun) begun.function.arguments += call.function.arguments;
      }
    }
    finish = choice.finish_reason ?? finish;
  }
  return { message, finish, chunks };
}

const user = (content: unknown) => [{ role: "user", content }];
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Get the weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const person = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
  additionalProperties: false,
};
const format = (schema: object, strict = true) => ({
  response_format: { type: "json_schema", json_schema: { name: "s", strict, schema } },
});
const callOf = ({ choices }: Answer) => choices[0]?.message.tool_calls?.[0]?.function;

describe("svc-mini", () => {
  beforeAll(async () => {
    server = await startServer(["--ctx", "8192", "--threads", "1"]);
  });
  afterAll(() => server.stop());

  test("calls a tool, accepts its result, and answers with it", async () => {
    const messages: object[] = user("What is the weather in Paris?");
    const first = await ask({ messages, tools: [weather] });
    expect(first.choices[0]?.finish_reason).toBe("tool_calls");
    expect(first.choices[0]?.message.content).toBeNull();
    expect(JSON.parse(callOf(first)?.arguments ?? "")).toEqual({ city: "Paris" });
    const id = first.choices[0]?.message.tool_calls?.[0]?.id;
    messages.push({ role: "assistant", ...first.choices[0]?.message });
    messages.push({ role: "tool", tool_call_id: id, content: "sunny, 22 degrees" });
    const second = await ask({ messages, tools: [weather] });
    expect(second.choices[0]?.finish_reason).toBe("stop");
    expect(second.choices[0]?.message.content).toContain("22");
  });

  test("streams a call with the same content as without streaming", async () => {
    const body = { messages: user("What is the weather in Paris and in Rome?"), tools: [weather] };
    const whole = (await ask(body)).choices[0];
    const { message, finish, chunks } = await askStreamed(body);
    expect(finish).toBe(whole?.finish_reason as string);
    const functions = (of: Message | undefined) => of?.tool_calls?.map((call) => call.function);
    expect(functions(message)).toEqual(functions(whole?.message));
    expect(functions(message)?.length).toBe(2);
    // The role, each call, its arguments and the end; the number of argument pieces depends on the speed of the
    // machine.
    expect(chunks).toBeGreaterThanOrEqual(6);
  });

  test("makes a forced call whatever the question, the named call when one is named, and none when calls are off", async () => {
    const question = user("What is the capital of France?");
    const other = { type: "function", function: { ...weather.function, name: "other_tool" } };
    expect(callOf(await ask({ messages: question, tools: [weather], tool_choice: "required" }))?.name).toBe(
      "get_weather",
    );
    const named = { type: "function", function: { name: "other_tool" } };
    expect(callOf(await ask({ messages: question, tools: [weather, other], tool_choice: named }))?.name).toBe(
      "other_tool",
    );
    const none = await ask({ messages: user("What is the weather in Paris?"), tools: [weather], tool_choice: "none" });
    expect(callOf(none)).toBeUndefined();
    expect(none.choices[0]?.message.content).not.toBe("");
  });

  test("makes one call when parallel calls are off", async () => {
    const messages = user("What is the weather in Paris and in Rome?");
    for (const tool_choice of ["auto", "required"]) {
      const answer = await ask({ messages, tools: [weather], tool_choice, parallel_tool_calls: false });
      expect(answer.choices[0]?.message.tool_calls?.length).toBe(1);
      expect(answer.choices[0]?.finish_reason).toBe("tool_calls");
    }
  });

  test("reports a truncated call up to the token limit, with finish reason length", async () => {
    const answer = await ask({ messages: user("What is the weather in Paris?"), tools: [weather], max_tokens: 14 });
    expect(answer.choices[0]?.finish_reason).toBe("length");
    expect(callOf(answer)?.name).toBe("get_weather");
    expect(() => JSON.parse(callOf(answer)?.arguments ?? "")).toThrow();
  });

  test("answers with JSON that follows the schema, streamed or not, and reports truncated JSON as such", async () => {
    const body = { messages: user("Bob is 42 years old."), ...format(person) };
    const answer = await ask(body);
    expect(JSON.parse(answer.choices[0]?.message.content ?? "")).toEqual({ name: "Bob", age: 42 });
    expect(answer.headers.get("x-grammar-constraints")).toBeNull();
    expect((await askStreamed(body)).message.content).toBe(answer.choices[0]?.message.content as string);
    const cut = await ask({ ...body, max_tokens: 5 });
    expect(cut.choices[0]?.finish_reason).toBe("length");
    expect(() => JSON.parse(cut.choices[0]?.message.content ?? "")).toThrow();
  });

  test("follows a schema against the prompt, and in requests with tools", async () => {
    const story = {
      messages: user("Tell me a short story."),
      ...format({ type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }),
    };
    expect(typeof JSON.parse((await ask(story)).choices[0]?.message.content ?? "").ok).toBe("boolean");
    const both = { ...format(person), tools: [weather] };
    const answered = await ask({ messages: user("Bob is 42 years old. Extract as JSON."), ...both });
    expect(JSON.parse(answered.choices[0]?.message.content ?? "")).toEqual({ name: "Bob", age: 42 });
    const called = await ask({ messages: user("What is the weather in Paris?"), ...both });
    expect(JSON.parse(callOf(called)?.arguments ?? "")).toEqual({ city: "Paris" });
  });

  test("returns an object for json_object, ends at a stop sequence, and follows a grammar", async () => {
    const extract = user("Bob is 42 years old. Extract as JSON.");
    const object = await ask({ messages: extract, response_format: { type: "json_object" } });
    expect(typeof JSON.parse(object.choices[0]?.message.content ?? "")).toBe("object");
    const stopped = await ask({ messages: user("Bob is 42 years old."), ...format(person), stop: ['"age"'] });
    expect(stopped.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: '{"name": "Bob", ' } });
    const grammar = await ask({ messages: user("What is the capital of France?"), grammar: 'root ::= "Yes" | "No"' });
    expect(["Yes", "No"]).toContain(grammar.choices[0]?.message.content as string);
    const broken = await ask({ messages: user("hi"), grammar: "root ::= (((" });
    expect([broken.status, broken.error?.param]).toEqual([400, "grammar"]);
  });

  test("thinks when asked to, separately from the content, and counts the reasoning tokens", async () => {
    const messages = user("What is 12 + 30?");
    const answer = await ask({ messages, reasoning_effort: "low" });
    const [choice] = answer.choices;
    expect(choice?.message.reasoning_content).toContain("40");
    expect(choice?.message.content).toContain("42");
    expect(choice?.message.content).not.toContain("think>");
    const { reasoning_tokens } = answer.usage.completion_tokens_details;
    expect(reasoning_tokens).toBeGreaterThan(10);
    expect(reasoning_tokens).toBeLessThan(answer.usage.completion_tokens);
    const streamed = await askStreamed({ messages, reasoning_effort: "low" });
    expect(streamed.message.reasoning_content).toBe(choice?.message.reasoning_content as string);
    expect(streamed.message.content).toBe(choice?.message.content as string);
    const silent = await ask({ messages });
    expect(silent.choices[0]?.message.reasoning_content).toBeUndefined();
    expect(silent.usage.completion_tokens_details.reasoning_tokens).toBe(0);
  });

  test("ends reasoning at its budget and then answers", async () => {
    const answer = await ask({
      messages: user("What is 12 + 30?"),
      reasoning_effort: "low",
      reasoning_budget_tokens: 4,
    });
    const { reasoning_tokens } = answer.usage.completion_tokens_details;
    expect(reasoning_tokens).toBeLessThan(12);
    expect(answer.choices[0]?.message.content).not.toBe("");
    expect(answer.choices[0]?.finish_reason).toBe("stop");
  });

  test("thinks first and then follows the schema", async () => {
    const schema = { type: "object", properties: { result: { type: "integer" } }, required: ["result"] };
    const answer = await ask({ messages: user("What is 12 + 30?"), reasoning_effort: "low", ...format(schema) });
    expect(answer.choices[0]?.message.reasoning_content ?? "").not.toBe("");
    expect(Number.isInteger(JSON.parse(answer.choices[0]?.message.content ?? "").result)).toBe(true);
  });

  test("applies stop sequences to the answer but not to the reasoning", async () => {
    const answer = await ask({ messages: user("What is 12 + 30?"), reasoning_effort: "low", stop: ["= 4"] });
    expect(answer.choices[0]?.message.reasoning_content).toContain("= 4");
    expect(answer.choices[0]?.message.content).toBe("12 + 30 ");
  });

  test("gives several answers to one prompt, the first of which equals a single answer", async () => {
    const body = { messages: user("Tell me a short story."), temperature: 1, seed: 7, max_tokens: 16 };
    const [alone] = (await ask(body)).choices;
    const { choices, usage } = await ask({ ...body, n: 4 });
    const texts = choices.map(({ message }) => message.content);
    expect(texts[0]).toBe(alone?.message.content as string);
    expect(new Set(texts).size).toBeGreaterThan(1);
    expect(usage.completion_tokens).toBe(4 * 16);
    expect(usage.prompt_tokens).toBe((await ask(body)).usage.prompt_tokens);
  });

  test("follows logit_bias, ignore_eos and min_tokens", async () => {
    const messages = user("What is the capital of France?");
    const free = await ask({ messages, logprobs: true });
    const first = (free.choices[0] as unknown as { logprobs: { content: { token: string }[] } }).logprobs.content[0];
    const { tokens } = (await (
      await fetch(`${server.url}/v1/tokenize`, { method: "POST", body: JSON.stringify({ text: first?.token }) })
    ).json()) as { tokens: number[] };
    const banned = await ask({ messages, logit_bias: { [String(tokens[0])]: -100 } });
    expect(banned.choices[0]?.message.content?.startsWith(first?.token as string)).toBe(false);
    const endless = await ask({ messages, ignore_eos: true, max_tokens: 40 });
    expect([endless.choices[0]?.finish_reason, endless.usage.completion_tokens]).toEqual(["length", 40]);
    const longer = await ask({ messages, min_tokens: 30, max_tokens: 60 });
    expect(longer.usage.completion_tokens).toBeGreaterThanOrEqual(30);
    expect(free.usage.completion_tokens).toBeLessThan(30);
  });

  test("refuses media when it has no projector", async () => {
    const url = `data:image/png;base64,${Buffer.from(pngFile(picture(8, 8))).toString("base64")}`;
    const answer = await ask({ messages: user([{ type: "image_url", image_url: { url } }]) });
    expect([answer.status, answer.error?.code]).toEqual([400, "unsupported_media_input"]);
  });
});

test("without grammar constraints, what the prompt cannot state is refused under the client's name for it", async () => {
  const [chat, raw] = ["/v1/chat/completions", "/v1/completions"];
  server = await startServer(["--ctx", "2048", "--threads", "1", "--no-grammar-constraints"]);
  try {
    const messages = user("What is the capital of France?");
    for (const [path, body, param] of [
      [chat, { messages, grammar: 'root ::= "Yes"' }, "grammar"],
      [chat, { messages, guided_choice: ["Yes", "No"] }, "guided_choice"],
      [chat, { messages, structured_outputs: { regex: "Yes|No" } }, "structured_outputs.regex"],
      [raw, { prompt: "Yes or", guided_json: person }, "guided_json"],
    ] as const) {
      const { status, error } = await count(path, { max_tokens: 1, ...body });
      expect([status, error?.code, error?.param]).toEqual([400, "unsupported_parameter", param]);
      expect(error?.message).toContain("--no-grammar-constraints");
    }
    const stated = await ask({ messages, ...format(person), max_tokens: 1 });
    expect([stated.status, stated.headers.get("x-grammar-constraints")]).toEqual([200, "downgraded"]);
  } finally {
    await server.stop();
  }
});

const folder = sharedFolder();

describe.each(["tiles", "block", "mrope"] satisfies VisionKind[])("a model that sees and hears (%s)", (kind) => {
  beforeAll(async () => {
    const { model, projector } = makeVisionModel(kind, folder);
    server = await startServer(["--model", model, "--mmproj", projector, "--threads", "1", "--media-root", folder]);
    await Bun.write(join(folder, "one.png"), pngFile(picture(80, 60, 1)));
  });
  afterAll(() => server.stop());

  const image = (seed: number) => ({
    type: "image_url",
    image_url: { url: `data:image/png;base64,${Buffer.from(pngFile(picture(80, 60, seed))).toString("base64")}` },
  });
  const text = (words: string) => ({ type: "text", text: words });
  const says = ({ choices }: Answer) => choices[0]?.message.content;

  test("counts images, tells them apart, and gives the same answer for the same image, also from a file", async () => {
    const about = (...parts: object[]) => ask({ messages: user(parts), max_tokens: 12 });
    const none = await about(text("What is it?"));
    const one = await about(text("What is it?"), image(1));
    expect(one.usage.prompt_tokens).toBeGreaterThan(none.usage.prompt_tokens);
    expect(says(one)).not.toBe(says(none) as string);
    expect(says(await about(text("What is it?"), image(2)))).not.toBe(says(one) as string);
    expect(says(await about(text("What is it?"), image(1)))).toBe(says(one) as string);
    const file = { type: "image_url", image_url: { url: "one.png" } };
    expect(says(await about(text("What is it?"), file))).toBe(says(one) as string);
    const two = await about(image(1), text("and"), image(2));
    expect(two.usage.prompt_tokens).toBeGreaterThan(one.usage.prompt_tokens);
  });

  test("counts the same tokens as an answer would, including images and sound", async () => {
    const sound = { data: Buffer.from(wavFile(1, 16_000)).toString("base64"), format: "wav" };
    const { usage } = await ask({
      messages: user([text("What is it?"), image(1), { type: "input_audio", input_audio: sound }]),
      max_tokens: 1,
    });
    const input = [
      { type: "input_text", text: "What is it?" },
      { type: "input_image", image_url: image(1).image_url.url },
      { type: "input_audio", input_audio: sound },
    ];
    const counted = await count("/v1/responses/input_tokens", { input: [{ role: "user", content: input }] });
    expect(counted).toMatchObject({ status: 200, input_tokens: usage.prompt_tokens });

    const seen = await ask({ messages: user([text("What is it?"), image(1)]), max_tokens: 1 });
    const source = { type: "url", url: image(1).image_url.url };
    const content = [text("What is it?"), { type: "image", source }];
    expect(await count("/v1/messages/count_tokens", { messages: user(content) })).toMatchObject({
      status: 200,
      input_tokens: seen.usage.prompt_tokens,
    });
  });

  test("answers several requests at once, with several answers each, without mixing them up", async () => {
    const body = (seed: number) => ({ messages: user([text("What is it?"), image(seed)]), max_tokens: 12 });
    const alone = [];
    for (const seed of [1, 2, 3]) alone.push(says(await ask(body(seed))));
    const plain = { messages: user("Count."), max_tokens: 24 };
    const quiet = says(await ask(plain));
    const [beside, ...together] = await Promise.all([
      ask(plain),
      ...[1, 2, 3].map((seed) => ask({ ...body(seed), n: 2 })),
    ]);
    expect(says(beside as Answer)).toBe(quiet as string);
    for (const [index, answer] of together.entries()) {
      expect(answer.choices.map(({ message }) => message.content)).toEqual([alone[index], alone[index]] as string[]);
    }
  });

  const soundPart = (file: Uint8Array) => ({
    type: "input_audio",
    input_audio: { data: Buffer.from(file).toString("base64"), format: "wav" },
  });

  // What decodes them does not depend on the projector.
  const isFirst = kind === "tiles";
  const others = ["opus.ogg", "opus.webm", "aac.m4a", "aac.mov", "tone.aac", "tone.aiff", "tone.caf"];
  test.each(["a.wav", "tone.mp3", ...(isFirst ? others : [])])("understands sound: %s", async (name) => {
    const fixture = join(import.meta.dir, "../audio/fixtures", name);
    const file = name === "a.wav" ? wavFile(1, 16_000) : readFileSync(fixture);
    const answer = await ask({ messages: user([soundPart(file), text("What do you hear?")]), max_tokens: 4 });
    expect([answer.status, answer.choices[0]?.finish_reason]).toEqual([200, "length"]);
    expect(answer.usage.prompt_tokens).toBeGreaterThan(100);
  });

  if (isFirst) {
    test("refuses sounds that are too long together, and ones that cannot be decoded", async () => {
      const opus = readFileSync(join(import.meta.dir, "../audio/fixtures/opus.ogg"));
      // 29 minutes and 59 seconds: little as a file, much as samples.
      const long = wavFile(1799, 1000);
      const refusal = async (...files: readonly Uint8Array[]) => {
        const { status, error } = await ask({ messages: user(files.map(soundPart)), max_tokens: 1 });
        return [status, error?.code, error?.param, error?.message];
      };
      const param = "messages.0.content.1.input_audio.data";
      const sentence = `'${param}': the sounds of a request are longer than 1800 seconds together.`;
      expect(await refusal(long, wavFile(2, 1000))).toEqual([400, "invalid_value", param, sentence]);
      expect(await refusal(long, opus)).toEqual([400, "invalid_value", param, sentence]);
      const damaged = expect.stringContaining("AAC, AIFF or CAF that can be decoded; got Ogg: ");
      expect(await refusal(wavFile(1, 1000), opus.subarray(0, 40))).toEqual([400, "invalid_value", param, damaged]);
    });
  }

  test("reports the progress of a prompt as soon as its sound is computed", async () => {
    const sound = { data: Buffer.from(wavFile(1.5, 16_000)).toString("base64"), format: "wav" };
    const messages = user([{ type: "input_audio", input_audio: sound }, text("What do you hear?")]);
    const body = { messages, max_tokens: 1, stream: true, return_progress: true };
    const chunks = await (await server.post("/v1/chat/completions", body)).text();
    const reported = [...chunks.matchAll(/"total":(\d+),"cache":\d+,"processed":(\d+)/g)].map((found) =>
      found.map(Number),
    );
    expect(reported.some(([, total = 0, processed = 0]) => processed > total / 2 && processed < total)).toBeTrue();
  });

  test("answers 400 and names the part for invalid or forbidden media", async () => {
    const refused = async (part: object) => {
      const { status, error } = await ask({ messages: user([text("x"), part]) });
      return [status, error?.code, error?.param];
    };
    const url = (value: string) => ({ type: "image_url", image_url: { url: value } });
    const param = "messages.0.content.1.image_url.url";
    expect(await refused(url("data:image/png;base64,aGVsbG8="))).toEqual([400, "invalid_value", param]);
    expect(await refused(url("../../etc/passwd"))).toEqual([400, "invalid_value", param]);
    const sound = { type: "input_audio", input_audio: { data: "aGVsbG8=", format: "wav" } };
    const heard = "messages.0.content.1.input_audio.data";
    expect(await refused(sound)).toEqual([400, "invalid_value", heard]);
    const damaged = Buffer.from(wavFile(1, 16_000)).subarray(0, 30).toString("base64");
    const cutOff = { type: "input_audio", input_audio: { data: damaged, format: "wav" } };
    expect(await refused(cutOff)).toEqual([400, "invalid_value", heard]);
    const narrow = Buffer.from(pngFile(picture(1, 900, 1))).toString("base64");
    expect(await refused(url(`data:image/png;base64,${narrow}`))).toEqual([400, "invalid_value", param]);
  });
});

test("an image that does not fit a step is refused when counted as well as when answered", async () => {
  const { model, projector } = makeVisionModel("block", folder, 64);
  server = await startServer(["--model", model, "--mmproj", projector, "--threads", "1", "--micro-batch", "32"]);
  try {
    const url = `data:image/png;base64,${Buffer.from(pngFile(picture(80, 60, 1))).toString("base64")}`;
    const answered = await ask({ messages: user([{ type: "image_url", image_url: { url } }]) });
    expect([answered.status, answered.error?.code]).toEqual([400, "invalid_value"]);
    const image = { type: "image", source: { type: "url", url } };
    const counted = await count("/v1/messages/count_tokens", { messages: user([image]) });
    expect([counted.status, counted.error?.message]).toEqual([400, answered.error?.message]);
    const plain = await count("/v1/messages/count_tokens", { messages: user("word ".repeat(5000)) });
    expect(plain.input_tokens).toBeGreaterThan(5000);
  } finally {
    await server.stop();
  }
});
