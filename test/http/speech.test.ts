import { describe, expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { OfferedModels, offeredSpeech } from "../../src/service/offered-models.ts";
import { ModelRouter } from "../../src/service/model-router.ts";
import { SpeechService } from "../../src/service/speech.ts";
import { FakeSpeaker } from "../support/fake-speech-engine.ts";
import { errorOf, fault } from "../support/fault.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { serve } from "./harness.ts";

const PATH = "/v1/audio/speech";
const id = { "x-request-id": "golden" };
const input = "Hello there. It is late.";
const crashed = new SvcError("engine_crashed", "The model engine stopped while computing this request.");

describe("POST /v1/audio/speech", () => {
  test.each([
    [undefined, "audio/mpeg"],
    ["mp3", "audio/mpeg"],
    ["opus", "audio/ogg"],
    ["aac", "audio/aac"],
    ["flac", "audio/flac"],
    ["wav", "audio/wav"],
    ["pcm", "audio/pcm"],
    ["caf", "audio/x-caf"],
  ] as const)("gives the sound as %s", async (response_format, type) => {
    const { post, speaker } = serve();
    const response = await post(PATH, { input, model: "tts-1", voice: "nova", response_format });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
    expect(await response.text()).toBe("[Hello there.][It is late.]");
    expect(speaker.asked).toEqual([{ text: input, voice: "heart", speed: 1, format: response_format ?? "mp3" }]);
  });

  test("sends the first sentence before the others are spoken", async () => {
    const { post, speaker } = serve();
    const gate = Promise.withResolvers<void>();
    speaker.gate = gate.promise;
    const response = await post(PATH, { input });
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("[Hello there.]");
    gate.resolve();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("[It is late.]");
    expect((await reader?.read())?.done).toBe(true);
  });

  test("reports progress by id until the end", async () => {
    const { post, speaker, requests } = serve();
    const gate = Promise.withResolvers<void>();
    speaker.gate = gate.promise;
    const response = await post(PATH, { input }, id);
    await until(() => requests.history.progressOf("golden") !== undefined);
    expect(requests.history.progressOf("golden")).toEqual({ done: 12, of: 24 });
    gate.resolve();
    expect(await response.text()).toBe("[Hello there.][It is late.]");
    expect(requests.history.progressOf("golden")).toBeUndefined();
  });

  test("does not wait for a program's list of voices once its client has left", async () => {
    const { speaker, router, requests } = serve();
    speaker.voices = () => Promise.withResolvers<never>().promise;
    const client = new AbortController();
    const work = { text: input, speed: 1, format: "mp3" } as const;
    const spoken = new SpeechService({ router, requests }).speak({ id: "a", work }, client.signal, {});
    const first = spoken.next();
    client.abort(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
  });

  test("can send events", async () => {
    const response = await serve().post(PATH, { input, stream_format: "sse" }, id);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    await expectGolden("speech.sse", await response.text());
  });

  test("gives a failure before the first sound its own status code", async () => {
    const { post, speaker } = serve();
    speaker.run = async function* () {
      yield { type: "accepted" };
      throw crashed;
    };
    expect((await post(PATH, { input })).status).toBe(500);
  });

  test("breaks the connection on a failure after the first sound, and ends events with an error", async () => {
    const { post, speaker } = serve();
    speaker.failure = crashed;
    const gate = Promise.withResolvers<void>();
    speaker.gate = gate.promise;
    const [broken, events] = [await post(PATH, { input }), await post(PATH, { input, stream_format: "sse" }, id)];
    expect(broken.status).toBe(200);
    gate.resolve();
    expect(await broken.text().catch(() => "broken off")).toBe("broken off");
    await expectGolden("speech-failed.sse", await events.text());
  });

  test.each([
    ["heart", "heart"],
    ["stone", "stone"],
    ["alloy", "heart"],
    ["onyx", "stone"],
    [{ id: "stone" }, "stone"],
    [undefined, "heart"],
  ])("answers a request for the voice %p with %s", async (voice, chosen) => {
    const { post, speaker } = serve();
    expect((await post(PATH, { input, voice })).status).toBe(200);
    expect(speaker.asked[0]?.voice).toBe(chosen);
  });

  test("chooses a voice by language", async () => {
    const { post, speaker } = serve();
    speaker.known = [...speaker.known, { ...speaker.known[0]!, id: "herz", locale: "de-DE" }];
    for (const locale of ["de", "de_AT"]) expect((await post(PATH, { input, voice: "nova", locale })).status).toBe(200);
    expect(speaker.asked.map(({ voice }) => voice)).toEqual(["herz", "herz"]);
  });

  test("uses the model that the voice belongs to; the name of a model limits the choice to its voices", async () => {
    const program = new FakeSpeaker("fake-program", "program");
    program.known = [{ id: "fake:de", name: "German", locale: "de", gender: "male", quality: "compact" }];
    const beside = [new OfferedModels([offeredSpeech(program, 1)])];
    const { post, speaker } = serve(undefined, {}, beside);
    const asked = [{ voice: "fake:de" }, { locale: "de" }, { model: "fake-program" }, { voice: "alloy" }, {}];
    for (const wish of asked) expect((await post(PATH, { input, ...wish })).status).toBe(200);
    expect(program.asked.map(({ voice }) => voice)).toEqual(["fake:de", "fake:de", "fake:de"]);
    expect(speaker.asked.map(({ voice }) => voice)).toEqual(["heart", "heart"]);
    expect((await post(PATH, { input, model: "fake-voice", voice: "fake:de" })).status).toBe(404);
  });

  test.each([
    ["no text", {}, 400, "input"],
    ["an empty text", { input: "" }, 400, "input"],
    ["nothing that can be said", { input: " … 👋 \u0000" }, 400, "input"],
    ["too long a text", { input: "a".repeat(32_769) }, 400, "input"],
    ["an unknown voice", { input, voice: "nobody" }, 404, "voice"],
    ["an unknown language", { input, locale: "tlh" }, 400, "locale"],
    ["a script that no voice reads", { input: "Доброе утро.", voice: "alloy" }, 400, "input"],
    ["an unknown format", { input, response_format: "midi" }, 400, "response_format"],
    ["haste", { input, speed: 4.1 }, 400, "speed"],
    ["delay", { input, speed: 0.2 }, 400, "speed"],
    ["a voice of Apple's", { input, apple_voice: "com.apple.voice.x" }, 400, "apple_voice"],
    ["instructions", { input, instructions: "whisper" }, 400, "instructions"],
  ])("%s is refused and names the field", async (_, body, status, param) => {
    const { post, speaker } = serve();
    const response = await post(PATH, body);
    const error = await errorOf(response);
    expect([response.status, error.param]).toEqual([status, param]);
    expect(error.message).not.toContain("nobody");
    expect(speaker.asked).toEqual([]);
  });

  test("refuses a language without a voice, and lists those with one", async () => {
    const error = await errorOf(await serve().post(PATH, { input, locale: "fr-FR" }));
    expect(error.message).toContain("en-GB, en-US");
  });

  test("refuses an invalid speed", async () => {
    await expectGolden("speech-refused.json", await (await serve().post(PATH, { input, speed: 9 }, id)).text());
  });
});

describe("without a voice", () => {
  test("both routes are 503 where the host's program lists none", async () => {
    const { post, speaker, url } = serve();
    speaker.known = [];
    for (const response of [await post(PATH, { input }), await fetch(`${url}/v1/audio/voices`)]) {
      expect(await fault(response)).toEqual([503, "engine_unavailable", null]);
    }
  });

  test("speech is unavailable where neither a model nor a program is", async () => {
    const service = new SpeechService({ router: new ModelRouter([]), requests: serve().requests });
    await expect(service.voices()).rejects.toMatchObject({ code: "engine_unavailable" });
    const work = { text: input, speed: 1, format: "mp3" } as const;
    const speaking = service.speak({ work, id: "1" }, new AbortController().signal, {});
    await expect(speaking.next()).rejects.toMatchObject({ code: "engine_unavailable" });
  });
});

describe("GET /v1/audio/voices", () => {
  test("lists voices by locale and name, each with its aliases", async () => {
    await expectGolden("voices.json", await (await fetch(`${serve().url}/v1/audio/voices`)).text());
  });

  test.each([
    ["en", ["stone", "heart"]],
    ["en-US", ["heart"]],
    ["EN_gb", ["stone"]],
    ["de", []],
  ])("of the locale %s", async (locale, ids) => {
    const response = await fetch(`${serve().url}/v1/audio/voices?locale=${locale}`);
    expect(((await response.json()) as { voices: { id: string }[] }).voices.map((voice) => voice.id)).toEqual(ids);
  });
});
