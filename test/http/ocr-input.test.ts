// --ocr-input: images in messages to a model without vision.

import { describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OfferedModels } from "../../src/service/offered-models.ts";
import { SYSTEM_MODEL, systemModel } from "../../src/service/system-model.ts";
import { fixtureServer } from "../gateway/fixture-server.ts";
import { FakeEngine, fakeModel } from "../support/fake-text-engine.ts";
import { errorOf, fault } from "../support/fault.ts";
import { temporaryFolder } from "../support/folders.ts";
import { assembleChat } from "../support/streams/chat.ts";
import { assembleMessage } from "../support/streams/messages.ts";
import { assembleOllama } from "../support/streams/ollama.ts";
import { assembleResponse } from "../support/streams/responses.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { hello, isDraining, leftovers, serve, type TestServer } from "./harness.ts";
import { image, pictureUrl as url, prompts, READ, sound, text, user } from "./input-parts.ts";

const id = { "x-request-id": "golden" };
const on = { ocrInput: true };
const contents = ({ reader }: TestServer) => reader.asked.map(({ content }) => content);

describe("an image to a model without vision", () => {
  test("is replaced by its text with tables, and its file is removed", async () => {
    const server = serve(hello, on);
    const messages = user(text("What is owed?"), image("one", { detail: "low" }), image("two"));
    expect((await server.chat({ messages })).status).toBe(200);
    expect(prompts(server)).toEqual([[{ role: "user", content: `What is owed?\n${READ}\n${READ}` }]]);
    expect(server.reader.asked.map(({ content, task }) => [content, task.tables, task.text?.level])).toEqual([
      ["one", true, "fast"],
      ["two", true, "accurate"],
    ]);
    expect(leftovers(server)).toEqual([]);
    // Recognition and generation are counted separately.
    const reading = ["recognition started", "recognition finished stop"];
    expect(server.metrics.calls).toEqual(["started", ...reading, ...reading, "first", "inter", "finished stop"]);
  });

  test("is read even when the server stops meanwhile", async () => {
    const server = serve(hello, { ...on, drainTimeoutMs: 5000 });
    const gate = Promise.withResolvers<void>();
    server.reader.gate = gate.promise;
    const answer = server.chat({ messages: user(image("one"), image("two")) });
    await until(() => server.reader.told === 1);
    const stopped = server.stop();
    await until(() => isDraining(server));
    gate.resolve();
    expect((await answer).status).toBe(200);
    expect(contents(server)).toEqual(["one", "two"]);
    await stopped;
  });

  test("is reported in the answer, streamed or not", async () => {
    const server = serve(hello, on);
    const answers = async (
      name: string,
      path: string,
      body: object,
      ending: string,
      assemble: (text: string) => unknown,
    ) => {
      await expectGolden(`${name}.json`, await (await server.post(path, { ...body, stream: false }, id)).text());
      const stream = await (await server.post(path, { ...body, stream: true }, id)).text();
      assemble(stream);
      await expectGolden(`${name}.${ending}`, stream);
    };
    const messages = user(image("one"));
    await answers("chat-recognized", "/v1/chat/completions", { messages }, "sse", assembleChat);
    const input = user({ type: "input_image", image_url: url("one") });
    await answers("responses-recognized", "/v1/responses", { input }, "sse", assembleResponse);
    const source = { type: "base64", media_type: "image/png", data: Buffer.from("one").toBase64() };
    const asked = { model: "m", max_tokens: 5, messages: user({ type: "image", source }) };
    await answers("messages-recognized", "/v1/messages", asked, "sse", assembleMessage);
    const shown = { model: "m", messages: [{ role: "user", content: "", images: [source.data] }] };
    await answers("ollama-chat-recognized", "/api/chat", shown, "ndjson", assembleOllama);
    expect(contents(server)).toEqual(["one"]);
  });

  test("without text is not an error: a sentence replaces it, and the reported text is empty", async () => {
    const server = serve(hello, on);
    server.reader.pages = server.reader.pages.slice(0, 1).map((page) => ({ ...page, lines: [], tables: [] }));
    const answer = await (await server.chat({ messages: user(text("What is this?"), image("one")) })).json();
    expect(prompts(server)[0]?.[0]?.content).toBe("What is this?\n(A picture in which no text was found.)");
    const { svc_recognitions } = answer as { svc_recognitions: object[] };
    const param = "messages.0.content.1.image_url.url";
    expect(svc_recognitions).toEqual([{ param, model: "fake-reader", text: "", page_count: 1 }]);
  });

  test("may be a document in the media folder", async () => {
    const mediaRoot = temporaryFolder();
    writeFileSync(join(mediaRoot, "a.pdf"), "from disk");
    const server = serve(hello, { ...on, mediaRoot });
    const messages = user({ type: "image_url", image_url: { url: "a.pdf" } });
    expect((await server.chat({ messages })).status).toBe(200);
    expect([contents(server), readdirSync(mediaRoot)]).toEqual([["from disk"], ["a.pdf"]]);
  });

  test("is read in the languages that its part of the message names", async () => {
    const server = serve(hello, on);
    const languages = ["de-AT", "en"];
    await server.chat({ messages: user(image("one", { languages })) });
    await server.post("/v1/responses", { input: user({ type: "input_image", image_url: url("two"), languages }) });
    const names = server.reader.asked.map(({ task }) => task.text?.languages.map(({ name }) => name));
    expect(names).toEqual([
      ["deu", "eng"],
      ["deu", "eng"],
    ]);
    const other = { languages: ["tlh"] };
    expect(await fault(await server.chat({ messages: user(image("one", other)) }))).toEqual([
      400,
      "invalid_value",
      "messages.0.content.0.image_url.languages",
    ]);
    for (const bad of [["tlh"], "de", [1], [], Array.from({ length: 9 }, () => "de")]) {
      const part = { type: "input_image", image_url: url("two"), languages: bad };
      const [status, , param] = await fault(await server.post("/v1/responses", { input: user(part) }));
      expect([status, param]).toEqual([400, "input.0.content.0.languages"]);
    }
  });

  test("is read in the server's languages when the API has no field for them", async () => {
    const server = serve(hello, { ...on, ocrLanguages: ["de"] });
    const source = { type: "base64", media_type: "image/png", data: Buffer.from("one").toBase64() };
    await server.post("/v1/messages", { model: "m", max_tokens: 5, messages: user({ type: "image", source }) });
    await server.post("/api/chat", { model: "m", messages: [{ role: "user", content: "", images: [btoa("two")] }] });
    expect(server.reader.asked.map(({ task }) => task.text?.languages.map(({ name }) => name))).toEqual([
      ["deu"],
      ["deu"],
    ]);
  });

  test("is replaced by its text for the system model, too", async () => {
    const own = new FakeEngine(() => hello);
    const server = serve(hello, on, [new OfferedModels([systemModel(own, 1)])]);
    expect((await server.chat({ model: SYSTEM_MODEL, messages: user(image("one")) })).status).toBe(200);
    expect(own.requests.map(({ messages }) => messages)).toEqual([[{ role: "user", content: READ }]]);
  });

  test("and sound keep their order when both become text, each reported in its own list", async () => {
    const server = serve(hello, { ...on, transcribeInput: true });
    server.reader.pages = server.reader.pages.slice(1);
    server.transcriber.segments = server.transcriber.segments.slice(0, 1);
    const answer = await (await server.chat({ messages: user(sound("x"), image("one")) })).json();
    expect(prompts(server)[0]?.[0]?.content).toBe("Hello there.\nThe end.");
    const { svc_recognitions, svc_transcriptions } = answer as Record<string, { text: string }[]>;
    expect([svc_recognitions?.[0]?.text, svc_transcriptions?.[0]?.text]).toEqual(["The end.", "Hello there."]);
  });

  test("is not classified by its text", async () => {
    const server = serve(hello, on);
    const asked = { mode: "classify", data: Buffer.from("one").toBase64() };
    expect(await fault(await server.post("/v1/vision/ocr", asked))).toEqual([501, "mode_unavailable", "mode"]);
    expect(prompts(server)).toEqual([]);
  });
});

describe("a document", () => {
  const pages = "%PDF-1.4 pages";
  const data = Buffer.from(pages).toBase64();
  const pdf = `data:application/pdf;base64,${data}`;
  const chat = (file: object) => ["/v1/chat/completions", { messages: user(text("Sum?"), { type: "file", file }) }];
  const responses = (file: object) => [
    "/v1/responses",
    { input: user({ type: "input_text", text: "Sum?" }, { type: "input_file", ...file }) },
  ];
  const messages = (block: object) => [
    "/v1/messages",
    { model: "m", max_tokens: 5, messages: user(text("Sum?"), { type: "document", ...block }) },
  ];
  const kinds = [
    ["chat", chat({ file_data: pdf, filename: "a.pdf" }), "messages.0.content.1.file.file_data", "a.pdf\n"],
    ["chat, in base64", chat({ file_data: data }), "messages.0.content.1.file.file_data", ""],
    ["responses", responses({ file_data: pdf, filename: "a.pdf" }), "input.0.content.1.file_data", "a.pdf\n"],
    [
      "messages",
      messages({ source: { type: "base64", media_type: "application/pdf", data }, title: "T", context: "C" }),
      "messages.0.content.1.source.data",
      "T\nC\n",
    ],
  ] as const;

  test.each(kinds)("is read with or without a vision model: %s", async (_, [path, body], param, heading) => {
    for (const vision of [false, true]) {
      const server = serve(hello, on);
      server.engine.model = { ...fakeModel, vision };
      const response = await server.post(path as string, body as object);
      expect(await response.text()).toContain(`"param":"${param}"`);
      expect(prompts(server)).toEqual([[{ role: "user", content: `Sum?\n${heading}${READ}` }]]);
      expect(contents(server)).toEqual([pages]);
    }
  });

  test.each(kinds)("is refused with the name of its field without the option: %s", async (_, [path, body], param) => {
    const server = serve(hello);
    server.engine.model = { ...fakeModel, vision: true };
    const response = await server.post(path as string, body as object);
    const error = await errorOf(response);
    expect(response.status).toBe(400);
    // The Messages API has no field for the name.
    expect(error.param ?? param).toBe(param);
    expect(error.message).toContain(`'${param}': this model takes no documents. Start svc with --ocr-input`);
    // No model takes documents, so a projector would not help.
    expect(error.message).not.toContain("--mmproj");
  });

  test("at a URL is downloaded", async () => {
    const site = fixtureServer(({ path }) => (path === "/a.pdf" ? new Response("pages") : undefined));
    const server = serve(hello, { ...on, mediaFetchPrivate: true });
    const at = `${site.url}/a.pdf`;
    const asked = [responses({ file_url: at }), messages({ source: { type: "url", url: at } })];
    for (const [path, body] of asked) {
      expect((await server.post(path as string, body as object)).status).toBe(200);
    }
    expect(prompts(server).map((turns) => turns[0]?.content)).toEqual([`Sum?\n${READ}`, `Sum?\n${READ}`]);
  });

  test("is recognized by its data: text stays text, an image goes to a vision model, and base64 is never a path", async () => {
    const mediaRoot = temporaryFolder();
    writeFileSync(join(mediaRoot, "a.pdf"), "secret");
    const server = serve(hello, { ...on, mediaRoot });
    server.engine.model = { ...fakeModel, vision: true };
    const ask = ([path, body]: readonly unknown[]) => server.post(path as string, body as object);
    const plain = `data:text/plain;base64,${Buffer.from("one").toBase64()}`;
    expect((await ask(chat({ file_data: plain, filename: "a.txt" }))).status).toBe(200);
    expect(prompts(server)[0]?.[0]?.content).toBe("Sum?\na.txt\none");
    const param = "messages.0.content.1.file.file_data";
    expect(await fault(await ask(chat({ file_data: url("no picture") })))).toEqual([400, "invalid_value", param]);
    expect(await fault(await ask(chat({ file_data: "a.pdf" })))).toEqual([400, "invalid_value", param]);
    expect(await fault(await ask(chat({ filename: "a.pdf" })))).toEqual([400, "missing_required_parameter", param]);
    expect(contents(server)).toEqual([]);
  });

  test.each<[string, string, string | Buffer]>([
    ["JSON", "data:application/json;base64,", '{"a": "ü"}'],
    ["code of an unknown type", "data:application/octet-stream;base64,", "let a = 1;"],
    ["XML with parameters", "data:application/xml; charset=utf-8;base64,", "<a/>"],
    ["base64 without a label", "", "a: 1\n".repeat(1000)],
    ["a letter at the end of what is looked at", "data:;base64,", `${"x".repeat(767)}ü`],
    ["an empty file", "data:application/octet-stream;base64,", ""],
  ])("that has only text is text, whatever its label: %s", async (_, label, content) => {
    const server = serve(hello);
    const file = { filename: "a.b", file_data: label + Buffer.from(content).toBase64() };
    for (const [path, body] of [chat(file), responses(file)]) {
      expect((await server.post(path as string, body as object)).status).toBe(200);
    }
    expect(prompts(server).map((turns) => turns[0]?.content)).toEqual(Array(2).fill(`Sum?\na.b\n${content}`));
  });

  test.each<[string, string, string | Buffer]>([
    ["with NUL", "data:application/json;base64,", "a\0"],
    ["with NUL far behind", "data:application/json;base64,", `${"x".repeat(5000)}\0`],
    ["of another encoding", "data:application/json;base64,", Buffer.from([0x61, 0xe4])],
    ["with pages", "data:application/octet-stream;base64,", "%PDF-1.4"],
    ["labelled as one with pages", "data:application/pdf;base64,", "text"],
    ["that is empty, without a label", "", ""],
  ])("is not text: %s", async (_, label, content) => {
    const body = { file_data: label + Buffer.from(content).toBase64() };
    const [path, asked] = chat(body);
    const param = "messages.0.content.1.file.file_data";
    expect((await errorOf(await serve(hello).post(path as string, asked as object))).message).toContain(
      `'${param}': this model takes no documents`,
    );
  });

  test.each([
    ["chat", chat({ file_id: "file-1" })],
    ["responses", responses({ file_id: "file-1" })],
  ])("cannot be given by id, and the refusal says so: %s", async (_, [path, body]) => {
    const refused = await serve(hello, on).post(path as string, body as object);
    expect(await refused.json()).toMatchObject({
      error: { code: "missing_required_parameter", message: expect.stringContaining("files are not taken by id") },
    });
  });
});

describe("failures", () => {
  const param = "messages.0.content.1.image_url.url";
  const messages = user(text("hi"), image("one"));

  test("without the option name it in the refusal, for the system model as well", async () => {
    const server = serve(hello, {}, [new OfferedModels([systemModel(new FakeEngine(() => hello), 1)])]);
    const response = await server.chat({ model: SYSTEM_MODEL, messages });
    const error = await errorOf(response);
    expect([response.status, error.code, error.param]).toEqual([400, "unsupported_media_input", param]);
    expect(error.message).toContain("--ocr-input");
    expect(error.message).not.toContain("--mmproj");
  });

  test.each([
    ["no base64", "data:image/png;base64,AA AA?"],
    ["nothing", "data:image/png;base64,"],
    ["another scheme", "ftp://example.org/a.png"],
    ["a path on a server without a media folder", "/etc/passwd"],
    ["too many bytes", `data:,${"x".repeat(25_000_001)}`],
  ])("of the image itself name its field: %s", async (_, bad) => {
    const server = serve(hello, on);
    const answer = await server.chat({ messages: user(text("hi"), { type: "image_url", image_url: { url: bad } }) });
    expect(await fault(answer)).toEqual([400, "invalid_value", param]);
    expect([prompts(server), leftovers(server)]).toEqual([[], []]);
  });

  test("by too many pages name the field of the image, not a field of the OCR route", async () => {
    const server = serve(hello, on);
    const [page] = server.reader.pages;
    server.reader.pages = Array.from({ length: 51 }, () => page ?? expect.unreachable());
    expect(await fault(await server.chat({ messages }))).toEqual([422, "unprocessable_media", param]);
    expect([prompts(server), leftovers(server)]).toEqual([[], []]);
  });

  test("by more text than a prompt may have come before all of it is read", async () => {
    const server = serve(hello, on);
    const [page] = server.reader.pages;
    const word = { text: "x".repeat(300_000), confidence: 1, box: { x: 0, y: 0, width: 9, height: 9 } };
    const line = { ...word, block: 0, words: [word] };
    const full = { ...(page ?? expect.unreachable()), lines: [line], tables: [] };
    server.reader.pages = Array.from({ length: 50 }, () => full);
    expect(await fault(await server.chat({ messages }))).toEqual([422, "unprocessable_media", param]);
    expect([prompts(server), leftovers(server), server.reader.told]).toEqual([[], [], 3]);
  });
});
