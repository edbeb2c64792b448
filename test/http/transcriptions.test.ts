import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ByteBudget } from "../../src/domain/byte-budget.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { errorOf, fault } from "../support/fault.ts";
import { temporaryFolder } from "../support/folders.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { leftovers, serve, type TestServer } from "./harness.ts";

const PATH = "/v1/audio/transcriptions";
const id = { "x-request-id": "golden" };

const crashed = new SvcError("engine_crashed", "The model engine stopped while computing this request.");

/** Builds a form as SDKs send it. */
function form(fields: readonly (readonly [string, string])[], content = "sound", name = "file"): FormData {
  const body = new FormData();
  for (const [field, value] of fields) body.append(field, value);
  body.append(name, new Blob([content]), "speech.wav");
  return body;
}

const send = ({ url }: TestServer, body: FormData, path = PATH) =>
  fetch(url + path, { method: "POST", body, headers: id });

describe("answers", () => {
  test.each([
    ["json", {}, "application/json", "transcriptions.json"],
    ["verbose_json", {}, "application/json", "verbose-transcriptions.json"],
    ["text", {}, "text/plain; charset=utf-8", "transcriptions-text.txt"],
    ["srt", {}, "text/plain; charset=utf-8", "transcriptions.srt"],
    ["vtt", {}, "text/vtt; charset=utf-8", "transcriptions.vtt"],
  ])("%s", async (format, _, type, golden) => {
    const server = serve();
    const granularities = [
      ["timestamp_granularities[]", "word"],
      ["timestamp_granularities[]", "segment"],
    ] as const;
    const response = await send(server, form([["response_format", format], ["model", "whisper-1"], ...granularities]));
    expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
    await expectGolden(golden, await response.text());
    expect(leftovers(server)).toEqual([]);
  });

  test("accept form fields that would change nothing, and refuse others", async () => {
    const server = serve();
    const usual = [
      ["top_p", "1.0"],
      ["n", "1"],
      ["use_beam_search", "false"],
      ["hotwords", ""],
    ] as const;
    expect((await send(server, form(usual))).status).toBe(200);
    const refused = await fault(await send(server, form([["top_p", "0.5"]])));
    expect(refused).toEqual([400, "unsupported_parameter", "top_p"]);
    expect(leftovers(server)).toEqual([]);
  });

  test("send each segment in a stream, and the whole text at the end", async () => {
    const server = serve();
    const response = await send(server, form([["stream", "true"]]));
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    await expectGolden("transcriptions.sse", await response.text());
    expect(leftovers(server)).toEqual([]);
  });

  test("end a failed stream with an error event", async () => {
    const server = serve();
    const gate = Promise.withResolvers<void>();
    server.transcriber.gate = gate.promise;
    void until(() => server.transcriber.asked.length === 1).then(() => gate.reject(crashed));
    const text = await (await send(server, form([["stream", "true"]]))).text();
    await expectGolden("transcriptions-failed.sse", text);
  });

  test("have times only for the requested granularities", async () => {
    const verbose = ["response_format", "verbose_json"] as const;
    const words = await (await send(serve(), form([verbose, ["timestamp_granularities[]", "word"]]))).json();
    expect([Object.hasOwn(words as object, "words"), Object.hasOwn(words as object, "segments")]).toEqual([
      true,
      false,
    ]);
    const usual = await (await send(serve(), form([verbose]))).json();
    expect([Object.hasOwn(usual as object, "words"), Object.hasOwn(usual as object, "segments")]).toEqual([
      false,
      true,
    ]);
  });
});

describe("requests", () => {
  test("pass the fields and the recording of a form to the engine", async () => {
    const server = serve();
    const fields = [
      ["language", "de-AT"],
      ["prompt", "Grüße"],
      ["temperature", "0.4"],
    ] as const;
    expect((await send(server, form(fields, "content"))).status).toBe(200);
    const { path: _path, field: _field, ...asked } = server.transcriber.asked[0] ?? { path: "" };
    const spoken = { language: "de", languageField: "language" };
    const work = { ...spoken, prompt: "Grüße", temperature: 0.4, translate: false, words: false };
    expect(asked).toEqual({ ...work, content: "content" });
  });

  test("take the recording in JSON as base64, as a data: URL or by path", async () => {
    const mediaRoot = temporaryFolder();
    writeFileSync(join(mediaRoot, "speech.wav"), "from disk");
    const server = serve(undefined, { mediaRoot });
    const data = Buffer.from("in base64").toBase64();
    for (const body of [{ data }, { data: `data:audio/wav;base64,${data}` }, { file: "speech.wav" }]) {
      expect((await server.post(PATH, { ...body, locale: "en-US", format: "wav" })).status).toBe(200);
    }
    expect(server.transcriber.asked[0]?.languageField).toBe("locale");
    const asked = server.transcriber.asked.map(({ content, language }) => [content, language]);
    expect(asked).toEqual([
      ["in base64", "en"],
      ["in base64", "en"],
      ["from disk", "en"],
    ]);
    expect(leftovers(server)).toEqual([]);
    expect(await Bun.file(join(mediaRoot, "speech.wav")).text()).toBe("from disk");
  });

  test("are refused a chunking strategy without speech detection, unless it treats all sound as speech", async () => {
    const server = serve();
    server.transcriber.detectsSpeech = false;
    const ask = (strategy: unknown) => server.post(PATH, { data: "AAAA", chunking_strategy: strategy });
    const refused = await ask({ type: "server_vad", silence_duration_ms: 200 });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: "unsupported_parameter", param: "chunking_strategy" } },
    ]);
    for (const strategy of ["auto", null, { type: "server_vad", threshold: 0 }]) {
      expect((await ask(strategy)).status).toBe(200);
    }
  });

  test("give a chunking strategy in JSON, as JSON in a form, or in separate form fields as SDKs write objects", async () => {
    const server = serve();
    const strategy = { type: "server_vad", threshold: 0.25, prefix_padding_ms: 500, silence_duration_ms: 50 };
    const json = form([["chunking_strategy", JSON.stringify(strategy)]]);
    const fields = form(Object.entries(strategy).map(([name, value]) => [`chunking_strategy[${name}]`, `${value}`]));
    expect((await send(server, json)).status).toBe(200);
    expect((await send(server, fields)).status).toBe(200);
    expect((await server.post(PATH, { data: "AAAA", chunking_strategy: strategy })).status).toBe(200);
    const found = { threshold: 0.25, padSeconds: 0.5, minSilenceSeconds: 0.05 };
    expect(server.transcriber.asked.map(({ detection }) => detection)).toEqual([found, found, found]);
    for (const usual of ["auto", null, undefined]) {
      expect((await server.post(PATH, { data: "AAAA", chunking_strategy: usual })).status).toBe(200);
      expect(server.transcriber.asked.at(-1)?.detection).toBeUndefined();
    }
  });

  test("for a stream ask the engine for early text", async () => {
    const server = serve();
    for (const stream of [true, false]) await (await server.post(PATH, { data: "AAAA", stream })).text();
    expect(server.transcriber.asked.map(({ early }) => early)).toEqual([true, undefined]);
  });

  test("have lists in forms with numbered fields, as some programs write them", async () => {
    const fields = [
      ["response_format", "verbose_json"],
      ["timestamp_granularities[0]", "word"],
      ["timestamp_granularities[1]", "segment"],
    ] as const;
    const answer = await (await send(serve(), form(fields))).json();
    expect(answer).toMatchObject({ words: expect.any(Array), segments: expect.any(Array) });
    const speakers = await send(serve(), form([["known_speaker_names[0]", "x"]]));
    expect(await fault(speakers)).toEqual([400, "unsupported_parameter", "known_speaker_names"]);
  });

  test("ignore unknown fields of a form, whatever their names", async () => {
    const fields = ["__defineGetter__", "__proto__", "__proto__[]", "constructor"].map((name) => [name, "x"] as const);
    expect((await send(serve(), form(fields))).status).toBe(200);
  });

  test("for translations always yield English", async () => {
    const server = serve();
    const fields = [["response_format", "verbose_json"]] as const;
    const answer = await (await send(server, form(fields), "/v1/audio/translations")).json();
    expect(answer).toMatchObject({ task: "translate", language: "english", locale: "en" });
    expect(server.transcriber.asked[0]).toMatchObject({ translate: true });
    expect(server.transcriber.asked[0]?.language).toBeUndefined();
  });

  test.each([
    ["timestamp_granularities", 5, "timestamp_granularities"],
    ["chunking_strategy", { type: "server_vad", threshold: "abc" }, "chunking_strategy.threshold"],
    ["chunking_strategy", { type: "server_vad", prefix_padding_ms: 1e12 }, "chunking_strategy.prefix_padding_ms"],
  ])("for translations validate %s as for transcriptions", async (field, value, param) => {
    const server = serve();
    const response = await server.post("/v1/audio/translations", { data: "AAAA", [field]: value });
    expect([response.status, (await errorOf(response)).param]).toEqual([400, param]);
    expect(server.transcriber.asked).toEqual([]);
  });

  test("for translations use the given language of the speech", async () => {
    const server = serve();
    const named = [
      ["response_format", "verbose_json"],
      ["language", "de-AT"],
    ] as const;
    const answer = await (await send(server, form(named), "/v1/audio/translations")).json();
    expect(answer).toMatchObject({ language: "english", locale: "de" });
    expect(server.transcriber.asked[0]).toMatchObject({ translate: true, language: "de" });
    const refused = await send(server, form([["language", "klingon"]]), "/v1/audio/translations");
    expect(await fault(refused)).toEqual([400, "invalid_value", "language"]);
  });

  test.each(["data", "file"])("with a recording and a second one in '%s' are refused", async (name) => {
    const server = serve();
    expect(await fault(await send(server, form([[name, "AAAA"]])))).toEqual([400, "invalid_value", name]);
    expect(leftovers(server)).toEqual([]);
  });

  test("with the model name of another service use the local model", async () => {
    for (const model of ["whisper-1", "gpt-4o-transcribe", "fake-whisper"]) {
      expect((await send(serve(), form([["model", model]]))).status).toBe(200);
    }
  });

  test.each([
    ["no recording", {}, "file"],
    ["two recordings", { file: "a.wav", data: "AAAA" }, "data"],
    ["a path without a media folder", { file: "/etc/passwd" }, "file"],
    ["no base64", { data: "AA AA?" }, "data"],
    ["an unknown language", { data: "AAAA", language: "klingon" }, "language"],
    ["an unknown locale", { data: "AAAA", locale: "xx-YY" }, "locale"],
    ["an unknown format", { data: "AAAA", response_format: "diarized_json" }, "response_format"],
    ["heat", { data: "AAAA", temperature: 1.1 }, "temperature"],
    ["no granularity", { data: "AAAA", timestamp_granularities: [] }, "timestamp_granularities"],
    ["an unknown granularity", { data: "AAAA", timestamp_granularities: ["line"] }, "timestamp_granularities.0"],
    ["a long prompt", { data: "AAAA", prompt: "x".repeat(10_001) }, "prompt"],
    ["subtitles as a stream", { data: "AAAA", response_format: "srt", stream: true }, "stream"],
    [
      "times in a stream",
      { data: "AAAA", stream: true, response_format: "verbose_json", timestamp_granularities: ["word"] },
      "timestamp_granularities",
    ],
    ["log probabilities", { data: "AAAA", include: ["logprobs"] }, "include"],
    ["an unknown strategy", { data: "AAAA", chunking_strategy: "none" }, "chunking_strategy"],
    [
      "an impossible threshold",
      { data: "AAAA", chunking_strategy: { type: "server_vad", threshold: 2 } },
      "chunking_strategy.threshold",
    ],
  ])("%s is 400 and names the field", async (_, body, param) => {
    const server = serve();
    const response = await server.post(PATH, body);
    const error = await errorOf(response);
    expect([response.status, error.type, error.param]).toEqual([400, "invalid_request_error", param]);
    expect(error.message).not.toContain("klingon");
    expect(server.transcriber.asked).toEqual([]);
  });

  test.each([
    ["a word for a number", [["temperature", "warm"]], "temperature"],
    ["a word for yes or no", [["stream", "maybe"]], "stream"],
    ["an unknown language", [["language", "klingon"]], "language"],
    ["an unknown kind of strategy", [["chunking_strategy[type]", "nonsense"]], "chunking_strategy.type"],
    ["a strategy without a kind", [["chunking_strategy[__proto__]", "1"]], "chunking_strategy.type"],
  ] as const)("in a form, %s is 400, and nothing of it is kept", async (_, fields, param) => {
    const server = serve();
    expect(await fault(await send(server, form(fields)))).toEqual([400, expect.any(String), param]);
    expect(leftovers(server)).toEqual([]);
  });

  test("an empty recording, a part of another name, and a truncated form are 400", async () => {
    const server = serve();
    expect(await fault(await send(server, form([], "")))).toEqual([400, "invalid_value", "file"]);
    expect(await fault(await send(server, form([], "sound", "audio")))).toEqual([400, "invalid_value", "file"]);
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const body = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nsound';
    expect((await fetch(server.url + PATH, { method: "POST", headers, body })).status).toBe(400);
    expect(leftovers(server)).toEqual([]);
  });

  test("by path, a large recording is 413, an empty one 400, and one that is not there 404", async () => {
    const mediaRoot = temporaryFolder();
    writeFileSync(join(mediaRoot, "large.wav"), "x".repeat(1001));
    writeFileSync(join(mediaRoot, "empty.wav"), "");
    const server = serve(undefined, { maxAudioBytes: 1000, mediaRoot });
    const asked = async (file: string) => fault(await server.post(PATH, { file }));
    expect(await asked("large.wav")).toEqual([413, "payload_too_large", "file"]);
    expect(await asked("empty.wav")).toEqual([400, "invalid_value", "file"]);
    for (const file of ["missing.wav", "../large.wav", "/etc/passwd"]) {
      expect(await asked(file)).toEqual([404, "not_found", "file"]);
    }
  });

  test("more than --max-audio-mb is 413 and names the option, in a form and in base64", async () => {
    const server = serve(undefined, { maxAudioBytes: 1000 });
    const large = "x".repeat(100_000);
    const response = await send(server, form([], large));
    const error = await errorOf(response);
    expect([response.status, error.code]).toEqual([413, "payload_too_large"]);
    expect(error.message).toContain("--max-audio-mb");
    expect(await fault(await server.post(PATH, { data: large }))).toEqual([413, "payload_too_large", "data"]);
    expect(leftovers(server)).toEqual([]);
  });
});

describe("what the engine refuses", () => {
  test("no speech is 422, or the error of a stream, which has begun before that is known", async () => {
    const server = serve();
    server.transcriber.failure = new SvcError("no_speech", "Nobody speaks in the recording.");
    const response = await send(server, form([]));
    expect(response.status).toBe(422);
    await expectGolden("transcriptions-refused.json", await response.text());
    const stream = await send(server, form([["stream", "true"]]));
    expect(stream.status).toBe(200);
    await expectGolden("transcriptions-no-speech.sse", await stream.text());
    expect(leftovers(server)).toEqual([]);
  });

  test("a file that is no recording has its own status, also with a stream", async () => {
    const server = serve();
    server.transcriber.refusal = new SvcError("invalid_value", "'file' must be a recording.", { param: "file" });
    const refused = await fault(await send(server, form([["stream", "true"]])));
    expect(refused).toEqual([400, "invalid_value", "file"]);
    expect(leftovers(server)).toEqual([]);
  });

  test("without a transcription model it is 503 and names the option", async () => {
    const { uploadFolders } = await import("../../src/store/upload-folders.ts");
    const { ModelRouter } = await import("../../src/service/model-router.ts");
    const { TranscriptionService } = await import("../../src/service/transcriptions.ts");
    const { requests } = serve();
    const { recordings } = uploadFolders(temporaryFolder(), 1000, new ByteBudget());
    const { defaultMediaLimits: mediaLimits } = await import("../../src/media/limits.ts");
    const service = new TranscriptionService({ router: new ModelRouter([]), requests, recordings, mediaLimits });
    const recording = await recordings.receive([new Uint8Array(1)]);
    const work = { translate: false, temperature: 0, words: false };
    const signal = new AbortController().signal;
    const failure = await service
      .transcribe(recording, { work, id: "1" }, signal, {})
      .next()
      .catch((error) => error);
    expect([failure.code, failure.message]).toEqual([
      "engine_unavailable",
      expect.stringContaining("--transcription-model"),
    ]);
    expect(await Bun.file(recording.path).exists()).toBe(false);
  });
});

test("the progress of a request is available until its end, even when another request with its id ended before", async () => {
  const server = serve();
  const { transcriber } = server;
  transcriber.progress = { done: 3 };
  transcriber.segments = transcriber.segments.slice(0, 1);
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answers: Promise<Response>[] = [];
  for (const { promise } of gates) {
    transcriber.gate = promise;
    answers.push(send(server, form([])));
    await until(() => transcriber.told === answers.length);
  }
  gates[0]?.resolve();
  await until(() => server.requests.activeCount === 1);
  expect(server.requests.history.progressOf(id["x-request-id"])).toEqual({ done: 3 });
  gates[1]?.resolve();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  expect(server.requests.history.progressOf(id["x-request-id"])).toBeUndefined();
});

test("a request whose headers are refused leaves nothing behind", async () => {
  const server = serve();
  const headers = { ...id, "x-svc-deadline-ms": "soon" };
  const response = await fetch(server.url + PATH, { method: "POST", body: form([]), headers });
  expect(await fault(response)).toEqual([400, "invalid_value", "X-Svc-Deadline-Ms"]);
  expect(leftovers(server)).toEqual([]);
});

describe("the model", () => {
  const capabilities = async (server: TestServer) => {
    const { models } = (await (await fetch(`${server.url}/v1/models`)).json()) as {
      models: { name: string; capabilities: string[] }[];
    };
    return models.find(({ name }) => name === "fake-whisper")?.capabilities;
  };

  test("is listed with its capabilities", async () => {
    expect(await capabilities(serve())).toEqual(["transcription", "translation"]);
  });

  test("refuses to translate when it was not trained to, even before it is loaded", async () => {
    const server = serve();
    server.transcriber.translates = false;
    expect(await capabilities(server)).toEqual(["transcription"]);
    const response = await send(server, form([]), "/v1/audio/translations");
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({
      code: "invalid_value",
      param: "model",
      message: "The model fake-whisper was not trained to translate: translations need another one.",
    });
    expect([server.transcriber.jobs, leftovers(server)]).toEqual([[], []]);
  });
});
