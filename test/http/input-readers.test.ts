// --ocr-input and --transcribe-input: what holds for both kinds of media that become text.

import { describe, expect, test } from "bun:test";
import { SvcError, type ErrorCode } from "../../src/domain/errors.ts";
import { fixtureServer, helloStream } from "../gateway/fixture-server.ts";
import { remote } from "../gateway/remote.ts";
import { fakeModel } from "../support/fake-text-engine.ts";
import { errorOf, fault } from "../support/fault.ts";
import { hello, leftovers, serve, type TestServer } from "./harness.ts";
import { HEARD, image, prompts, READ, sound, text, user } from "./input-parts.ts";

interface Medium {
  readonly name: string;
  readonly option: "ocrInput" | "transcribeInput";
  readonly flag: string;
  readonly part: (content: string, more?: object) => object;
  /** More fields of a part with which its text may be another. */
  readonly otherwise: object;
  readonly field: string;
  /** What the engine's answer becomes. */
  readonly asText: string;
  /** The field of an answer that reports it. */
  readonly reported: string;
  /** The ability of models that need no text. */
  readonly able: "vision" | "audio";
  readonly engine: (server: TestServer) => {
    readonly asked: readonly { readonly content: string }[];
    refusal: Error | undefined;
  };
  readonly refusals: readonly (readonly [code: ErrorCode, status: number])[];
}

const media: readonly Medium[] = [
  {
    name: "an image",
    option: "ocrInput",
    flag: "--ocr-input",
    // As upstreams get it.
    part: (content, more) => image(content, { detail: "auto", ...more }),
    otherwise: { detail: "low" },
    field: "image_url.url",
    asText: READ,
    reported: "svc_recognitions",
    able: "vision",
    engine: ({ reader }) => reader,
    refusals: [
      ["unprocessable_media", 422],
      ["unsupported_media_input", 400],
      ["engine_crashed", 500],
      ["engine_unavailable", 503],
    ],
  },
  {
    name: "sound",
    option: "transcribeInput",
    flag: "--transcribe-input",
    part: sound,
    otherwise: { language: "fr" },
    field: "input_audio.data",
    asText: HEARD,
    reported: "svc_transcriptions",
    able: "audio",
    engine: ({ transcriber }) => transcriber,
    refusals: [
      ["no_speech", 422],
      ["invalid_value", 400],
      ["engine_crashed", 500],
      ["engine_unavailable", 503],
    ],
  },
];

describe.each(media)("$name", ({ option, flag, part, otherwise, field, asText, reported, able, engine, refusals }) => {
  const on = { [option]: true };
  const contents = (server: TestServer) => engine(server).asked.map(({ content }) => content);
  const param = (index: number) => `messages.0.content.${index}.${field}`;

  test("is reported in each item of a multiplex batch", async () => {
    const server = serve(hello, on);
    const item = (custom_id: string, stream: boolean) => ({ custom_id, body: { messages: user(part("one")), stream } });
    const response = await server.post("/v1/batch/completions", { requests: [item("a", false), item("b", true)] });
    const told = (await response.text())
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)
      .flatMap(({ custom_id, [reported]: texts = [] }) =>
        (texts as { text: string; param: string }[]).map((one) => [custom_id, one.text, one.param]),
      );
    expect(told.toSorted()).toEqual([
      ["a", asText, param(0)],
      ["b", asText, param(0)],
    ]);
  });

  test("is read once in the same manner, however often a conversation repeats it", async () => {
    const server = serve(hello, on);
    const first = user(part("one"));
    await server.chat({ messages: first });
    await server.chat({ messages: [...first, { role: "assistant", content: "Hello" }, ...user(part("two"))] });
    await server.chat({ messages: user(part("one", otherwise)) });
    expect(contents(server)).toEqual(["one", "two", "one"]);
  });

  test("is passed on unchanged when the model can take it", async () => {
    const server = serve(hello, on);
    server.engine.model = { ...fakeModel, [able]: true };
    // Media for the model itself are checked.
    expect(await fault(await server.chat({ messages: user(part("no medium")) }))).toEqual([
      400,
      "invalid_value",
      param(0),
    ]);
    expect(contents(server)).toEqual([]);
  });

  test.each([false, true])("waits for a model that is still loading, since it may take it (%p)", async (takes) => {
    const server = serve(hello, on);
    const { engine: model } = server;
    model.model = undefined;
    model.tokenize = async () => {
      model.model = { ...fakeModel, [able]: takes };
      return new Int32Array();
    };
    const { status } = await server.chat({ messages: user(part("no medium")) });
    expect([status, contents(server).length]).toEqual(takes ? [400, 0] : [200, 1]);
  });

  test.each([false, true])("is a capability of the model with the option (%p)", async (isOn) => {
    const { url } = serve(hello, { [option]: isOn });
    const { models } = (await (await fetch(`${url}/v1/models`)).json()) as {
      models: { name: string; capabilities: string[] }[];
    };
    const props = (await (await fetch(`${url}/props`)).json()) as { modalities: Record<string, boolean> };
    const listed = models.find(({ name }) => name === "fake-model")?.capabilities.includes(able);
    expect([listed, props.modalities[able]]).toEqual([isOn, isOn]);
  });

  test("is sent to an upstream, unless that declares that it cannot take it", async () => {
    /** Returns what an upstream with these capabilities received for the medium, or the refusal. */
    const sent = async (capabilities: readonly string[] | undefined, isOn = true) => {
      const far = fixtureServer(({ path }) => {
        if (path === "/v1/chat/completions") return helloStream();
        if (path !== "/v1/models") return undefined;
        const models = capabilities && { models: [{ name: "far", capabilities }] };
        const headers = capabilities ? { "compat-request-id": "r" } : {};
        return Response.json({ object: "list", data: [{ id: "far" }], ...models }, { headers });
      });
      const { gateway } = await remote([far.url]);
      const server = serve(hello, { [option]: isOn }, [gateway]);
      const response = await server.chat({ model: "up/far", messages: user(part("one")) });
      if (!response.ok) return errorOf(response);
      return (far.asked.at(-1)?.body["messages"] as { content: unknown }[] | undefined)?.[0]?.content;
    };
    const passedOn = [part("one")];
    expect(await sent(["chat", able])).toEqual(passedOn);
    expect(await sent(undefined)).toEqual(passedOn);
    expect(await sent(["chat"])).toBe(asText);
    const refusal = await sent(["chat"], false);
    expect(refusal).toMatchObject({ code: "unsupported_media_input", param: param(0) });
    const { message } = refusal as { message: string };
    expect(message).toContain(flag);
    // Only svc's own models have projectors.
    expect(message).not.toContain("--mmproj");
  });

  test("is refused without the option, which the message names beside that for a projector", async () => {
    const response = await serve().chat({ messages: user(text("hi"), part("one")) });
    const error = await errorOf(response);
    expect([response.status, error.code, error.param]).toEqual([400, "unsupported_media_input", param(1)]);
    expect(error.message).toContain(flag);
    expect(error.message).toContain("--mmproj");
  });

  test.each(refusals)("that the engine refuses is an error of the answer: %s", async (code, status) => {
    const server = serve(hello, on);
    engine(server).refusal = new SvcError(code, "It cannot be read.", { param: param(1) });
    const answer = await server.chat({ messages: user(text("hi"), part("one")) });
    expect(await fault(answer)).toEqual([status, code, param(1)]);
    expect([prompts(server), leftovers(server), server.requests.activeCount]).toEqual([[], [], 0]);
  });

  test("that the engine has no time for counts as refused by that engine, not by the model of the chat", async () => {
    const server = serve(hello, on);
    engine(server).refusal = new SvcError("server_busy", "It is busy.", { busy: "queue_tokens", retryAfterSeconds: 5 });
    const answer = await server.chat({ messages: user(part("one")) });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    const rejected = server.metrics.calls.filter((call) => call.includes("rejected"));
    expect(rejected).toEqual([expect.stringMatching(/^[a-z]+ rejected queue_tokens$/)]);
  });

  test("is not read when there are too many", async () => {
    const server = serve(hello, on);
    const many = Array.from({ length: 33 }, () => part("one"));
    expect(await fault(await server.chat({ messages: user(...many) }))).toEqual([400, "invalid_value", "messages"]);
    expect(contents(server)).toEqual([]);
  });
});
