// --transcribe-input: sound in messages to a model without audio input.

import { describe, expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { fixtureServer, helloStream } from "../gateway/fixture-server.ts";
import { remote } from "../gateway/remote.ts";
import { fakeModel } from "../support/fake-text-engine.ts";
import { errorOf, fault } from "../support/fault.ts";
import { assembleChat } from "../support/streams/chat.ts";
import { assembleResponse } from "../support/streams/responses.ts";
import { expectGolden } from "./golden.ts";
import { hello, leftovers, serve, type TestServer } from "./harness.ts";

const id = { "x-request-id": "golden" };
const on = { transcribeInput: true };
/** The text that the fake transcriber returns for any recording. */
const HEARD = "Hello there. A <b> & so on.";

const sound = (content: string, more: object = {}) => ({
  type: "input_audio",
  input_audio: { data: Buffer.from(content).toBase64(), format: "wav", ...more },
});
const text = (content: string) => ({ type: "text", text: content });
const user = (...content: unknown[]) => [{ role: "user", content }];
const inputText = (content: string) => ({ type: "input_text", text: content });

const prompts = ({ engine }: TestServer) => engine.requests.map(({ messages }) => messages);

describe("sound to a model without audio input", () => {
  test("is replaced by its text, whatever its format, and the recording is removed", async () => {
    const server = serve(hello, on);
    const messages = user(text("What is said?"), sound("one", { language: "de-AT", format: "opus" }), sound("two"));
    expect((await server.chat({ messages })).status).toBe(200);
    expect(prompts(server)).toEqual([[{ role: "user", content: `What is said?\n${HEARD}\n${HEARD}` }]]);
    expect(server.transcriber.asked[0]?.languageField).toBe("messages.0.content.1.input_audio.language");
    expect(server.transcriber.asked.map(({ content, language }) => [content, language])).toEqual([
      ["one", "de"],
      ["two", undefined],
    ]);
    expect(leftovers(server)).toEqual([]);
    // Transcription and generation are counted separately.
    expect(server.metrics.calls).toEqual([
      "started",
      ...["started", "finished stop"].flatMap((call) => [`transcription ${call}`]),
      ...["started", "finished stop"].flatMap((call) => [`transcription ${call}`]),
      "first",
      "inter",
      "finished stop",
    ]);
  });

  test("is reported in the answer, streamed or not", async () => {
    const server = serve(hello, on);
    const messages = user(sound("one"));
    await expectGolden(
      "chat-transcribed.json",
      await (await server.post("/v1/chat/completions", { messages }, id)).text(),
    );
    const stream = await (await server.post("/v1/chat/completions", { messages, stream: true }, id)).text();
    assembleChat(stream);
    await expectGolden("chat-transcribed.sse", stream);
    const input = user(inputText("Hear this."), sound("two"));
    await expectGolden("responses-transcribed.json", await (await server.post("/v1/responses", { input }, id)).text());
    const events = await (await server.post("/v1/responses", { input, stream: true }, id)).text();
    assembleResponse(events);
    await expectGolden("responses-transcribed.sse", events);
  });

  test("is reported in each item of a multiplex batch", async () => {
    const server = serve(hello, on);
    const item = (custom_id: string, stream: boolean) => ({
      custom_id,
      body: { messages: user(sound("one")), stream },
    });
    const response = await server.post("/v1/batch/completions", { requests: [item("a", false), item("b", true)] });
    const told = (await response.text())
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice(6)) as { custom_id: string; svc_transcriptions?: { text: string }[] })
      .flatMap(({ custom_id, svc_transcriptions = [] }) => svc_transcriptions.map((one) => [custom_id, one.text]));
    expect(told.toSorted()).toEqual([
      ["a", HEARD],
      ["b", HEARD],
    ]);
  });

  test("is transcribed once, however often a conversation repeats it", async () => {
    const server = serve(hello, on);
    const first = user(sound("one"));
    await server.chat({ messages: first });
    await server.chat({ messages: [...first, { role: "assistant", content: "Hello" }, ...user(sound("two"))] });
    // In another language the text differs.
    await server.chat({ messages: user(sound("one", { language: "fr" })) });
    expect(server.transcriber.asked.map(({ content }) => content)).toEqual(["one", "two", "one"]);
  });

  test("of an earlier turn of a stored response is reported apart from that of this turn", async () => {
    const server = serve(hello, on);
    const { id: before } = (await (await server.post("/v1/responses", { input: user(sound("one")) })).json()) as {
      id: string;
    };
    server.transcriber.segments = server.transcriber.segments.slice(0, 1);
    await server.post("/v1/responses", { input: user(sound("two")), previous_response_id: before });
    expect(prompts(server)[1]?.map(({ content }) => content)).toEqual([HEARD, "Hello", "Hello there."]);
  });

  test("counts with its text when tokens are counted", async () => {
    const server = serve(hello, on);
    const input = user(sound("one"));
    const count = async (what: unknown) =>
      ((await (await server.post("/v1/responses/input_tokens", { input: what })).json()) as { input_tokens: number })
        .input_tokens;
    expect(await count(input)).toBe(await count(HEARD));
  });

  test("is passed on unchanged when the model has audio input", async () => {
    const server = serve(hello, on);
    server.engine.model = { ...fakeModel, audio: true };
    expect(await fault(await server.chat({ messages: user(sound("no sound")) }))).toEqual([
      400,
      "invalid_value",
      "messages.0.content.0.input_audio.data",
    ]);
    expect(server.transcriber.asked).toEqual([]);
  });

  test("waits for a model that is still loading, since it may have audio input", async () => {
    for (const audio of [false, true]) {
      const server = serve(hello, on);
      const { engine } = server;
      engine.model = undefined;
      engine.tokenize = async () => {
        engine.model = { ...fakeModel, audio };
        return new Int32Array();
      };
      const { status } = await server.chat({ messages: user(sound("no sound")) });
      // Sound for the model itself is validated.
      expect([status, server.transcriber.asked.length]).toEqual(audio ? [400, 0] : [200, 1]);
    }
  });

  test("makes the model report audio input as a capability", async () => {
    const listed = async (server: TestServer) =>
      (
        (await (await fetch(`${server.url}/v1/models`)).json()) as {
          models: { name: string; capabilities: string[] }[];
        }
      ).models
        .find(({ name }) => name === "fake-model")
        ?.capabilities.includes("audio");
    const modalities = async (server: TestServer) =>
      ((await (await fetch(`${server.url}/props`)).json()) as { modalities: { audio: boolean } }).modalities.audio;
    for (const transcribeInput of [false, true]) {
      const server = serve(hello, { transcribeInput });
      expect([await listed(server), await modalities(server)]).toEqual([transcribeInput, transcribeInput]);
    }
  });
});

describe("sound to an upstream", () => {
  /** Returns the model entry of the upstream and what it received for the sound. */
  async function sent(capabilities: readonly string[] | undefined) {
    const far = fixtureServer(({ path }) => {
      if (path === "/v1/chat/completions") return helloStream();
      if (path !== "/v1/models") return undefined;
      const models = capabilities && { models: [{ name: "far", capabilities }] };
      const headers = capabilities ? { "compat-request-id": "r" } : {};
      return Response.json({ object: "list", data: [{ id: "far" }], ...models }, { headers });
    });
    const { gateway } = await remote([far.url]);
    const server = serve(hello, on, [gateway]);
    expect((await server.chat({ model: "up/far", messages: user(sound("one")) })).status).toBe(200);
    const messages = far.asked.at(-1)?.body["messages"] as { content: unknown }[] | undefined;
    return messages?.[0]?.content;
  }

  test("is sent there, unless the upstream declares no audio input", async () => {
    const passedOn = [sound("one")];
    expect(await sent(["chat", "audio"])).toEqual(passedOn);
    expect(await sent(undefined)).toEqual(passedOn);
    expect(await sent(["chat"])).toBe(HEARD);
  });
});

describe("failures", () => {
  const param = "messages.0.content.1.input_audio.data";
  const messages = user(text("hi"), sound("one"));

  test("without the option name it in the refusal", async () => {
    const response = await serve().chat({ messages });
    const error = await errorOf(response);
    expect([response.status, error.code, error.param]).toEqual([400, "unsupported_media_input", param]);
    expect(error.message).toContain("--transcribe-input");
  });

  test.each([
    ["no base64", { data: "AA AA?" }, [400, "invalid_value", param]],
    ["nothing", { data: "" }, [400, "invalid_value", param]],
    ["more than may be", { data: Buffer.alloc(100_001).toBase64() }, [413, "payload_too_large", param]],
    [
      "an unknown language",
      { language: "klingon" },
      [400, "invalid_value", "messages.0.content.1.input_audio.language"],
    ],
  ] as const)("of the sound itself name its field: %s", async (_, input_audio, refusal) => {
    const server = serve(hello, on);
    const answer = await server.chat({ messages: user(text("hi"), sound("one", input_audio)) });
    expect(await fault(answer)).toEqual([...refusal]);
    expect([prompts(server), leftovers(server)]).toEqual([[], []]);
  });

  test("of transcription are returned as errors of the answer", async () => {
    for (const [code, status] of [
      ["no_speech", 422],
      ["invalid_value", 400],
      ["engine_crashed", 500],
      ["engine_unavailable", 503],
    ] as const) {
      const server = serve(hello, on);
      server.transcriber.refusal = new SvcError(code, "It cannot be heard.", { param });
      expect(await fault(await server.chat({ messages }))).toEqual([status, code, param]);
      expect([prompts(server), leftovers(server), server.requests.activeCount]).toEqual([[], [], 0]);
    }
  });

  test("by too many sounds come before any is transcribed", async () => {
    const server = serve(hello, on);
    const many = Array.from({ length: 33 }, () => sound("one"));
    expect(await fault(await server.chat({ messages: user(...many) }))).toEqual([400, "invalid_value", "messages"]);
    expect(server.transcriber.asked).toEqual([]);
  });
});
