// Invalid events of /v1/realtime: the errors name the field, and the session stays open.

import { describe, expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { RealtimeClient } from "../support/realtime-client.ts";
import { until } from "../support/until.ts";
import { hello, serve } from "./harness.ts";
import { RawClient, upgradeRequest } from "./raw.ts";

setDefaultTimeout(60_000);

/** One second of 16-bit samples at 24 kHz, in bytes. */
const SECOND = 48_000;
const APPEND = "input_audio_buffer.append";
const update = (session: unknown) => ({ type: "session.update", session });
const input = (settings: object) => update({ type: "transcription", audio: { input: settings } });
const turns = (settings: object) => input({ turn_detection: { type: "server_vad", ...settings } });
const TURNS = "session.audio.input.turn_detection";

async function open(overrides = {}) {
  const server = serve(hello, overrides);
  const client = await RealtimeClient.open(server.url);
  onTestFinished(() => client.close());
  return { server, client };
}

/** Expects that the session accepts a valid event after all invalid ones. */
async function expectAlive(client: RealtimeClient): Promise<void> {
  client.set({ turn_detection: { threshold: 0.25 } });
  expect(JSON.stringify(await client.next("session.updated"))).toContain("0.25");
}

describe("an invalid event yields an error with its id, and the session goes on", () => {
  test.each<[string, object | string, string, string | null]>([
    ["no JSON", "{", "invalid_json", null],
    ["nothing", "", "invalid_json", null],
    ["JSON that is too deep", `{"type":"x","a":${"[".repeat(100_000)}`, "invalid_json", null],
    ["JSON of too many values", `{"type":"x","a":[${"[],".repeat(30_000)}[]]}`, "invalid_json", null],
    ["a list", "[]", "invalid_type", null],
    ["null", "null", "invalid_type", null],
    ["no type", {}, "invalid_value", "type"],
    ["a type that is none", { type: 5 }, "invalid_value", "type"],
    ["an unknown type", { type: "toString" }, "invalid_value", "type"],
    ["response.create", { type: "response.create" }, "unsupported_parameter", "type"],
    ["conversation.item.create", { type: "conversation.item.create", item: {} }, "unsupported_parameter", "type"],
    ["no audio", { type: APPEND }, "missing_required_parameter", "audio"],
    ["audio that is no text", { type: APPEND, audio: [1, 2] }, "invalid_type", "audio"],
    ["audio that is empty", { type: APPEND, audio: "" }, "invalid_value", "audio"],
    ["audio in no base64", { type: APPEND, audio: "~~~~" }, "invalid_value", "audio"],
    ["base64 that is cut off", { type: APPEND, audio: "AAAAA" }, "invalid_value", "audio"],
    ["half a sample", { type: APPEND, audio: "AAAA" }, "invalid_value", "audio"],
    ["nothing to commit", { type: "input_audio_buffer.commit" }, "input_audio_buffer_commit_empty", null],
    ["no session", { type: "session.update" }, "missing_required_parameter", "session"],
    ["a session that is none", update("x"), "invalid_type", "session"],
    ["a conversation", update({ type: "realtime" }), "unsupported_parameter", "session.type"],
    [
      "a format in the other form",
      update({ type: "transcription", input_audio_format: "g711_ulaw" }),
      "unsupported_parameter",
      "session.input_audio_format",
    ],
    [
      "turns in the other form",
      update({ type: "transcription", turn_detection: null, input_audio_transcription: { language: "de" } }),
      "unsupported_parameter",
      "session.input_audio_transcription",
    ],
    ["another session", update({ type: "x" }), "invalid_value", "session.type"],
    [
      "instructions",
      update({ type: "transcription", instructions: "Be nice." }),
      "unsupported_parameter",
      "session.instructions",
    ],
    [
      "spoken answers",
      update({ type: "transcription", output_modalities: ["audio"] }),
      "unsupported_parameter",
      "session.output_modalities",
    ],
    [
      "a voice",
      update({ type: "transcription", audio: { output: { voice: "x" } } }),
      "unsupported_parameter",
      "session.audio.output",
    ],
    [
      "logprobs",
      update({ type: "transcription", include: ["item.input_audio_transcription.logprobs"] }),
      "unsupported_parameter",
      "session.include",
    ],
    [
      "an unknown format",
      input({ format: { type: "audio/opus" } }),
      "invalid_value",
      "session.audio.input.format.type",
    ],
    [
      "a rate of another format",
      input({ format: { type: "audio/pcmu", rate: 24_000 } }),
      "invalid_value",
      "session.audio.input.format.rate",
    ],
    [
      "an unknown rate",
      input({ format: { type: "audio/pcm", rate: 44_100 } }),
      "invalid_value",
      "session.audio.input.format.rate",
    ],
    [
      "an unknown language",
      input({ transcription: { language: "Klingon" } }),
      "invalid_value",
      "session.audio.input.transcription.language",
    ],
    [
      "a prompt that is too long",
      input({ transcription: { prompt: "x".repeat(10_001) } }),
      "invalid_value",
      "session.audio.input.transcription.prompt",
    ],
    [
      "keywords",
      input({ transcription: { keywords: ["x"] } }),
      "unsupported_parameter",
      "session.audio.input.transcription.keywords",
    ],
    ["semantic turns", input({ turn_detection: { type: "semantic_vad" } }), "unsupported_parameter", `${TURNS}.type`],
    ["a threshold above 1", turns({ threshold: 2 }), "invalid_value", `${TURNS}.threshold`],
    ["a silence below 0", turns({ silence_duration_ms: -1 }), "invalid_value", `${TURNS}.silence_duration_ms`],
    [
      "a padding of half a millisecond",
      turns({ prefix_padding_ms: 0.5 }),
      "invalid_type",
      `${TURNS}.prefix_padding_ms`,
    ],
    ["answers by themselves", turns({ create_response: true }), "unsupported_parameter", `${TURNS}.create_response`],
    [
      "a voice in the first form",
      { type: "transcription_session.update", session: { voice: "x" } },
      "unsupported_parameter",
      "session.voice",
    ],
    [
      "answers by themselves in the first form",
      { type: "transcription_session.update", session: { turn_detection: { create_response: true } } },
      "unsupported_parameter",
      "session.turn_detection.create_response",
    ],
    [
      "an unknown first format",
      { type: "transcription_session.update", session: { input_audio_format: "mp3" } },
      "invalid_value",
      "session.input_audio_format",
    ],
  ])("%s", async (_, event, code, param) => {
    const { client } = await open();
    client.send(typeof event === "string" ? event : { event_id: "mine", ...event });
    const error = await client.error();
    expect([error.code, error.param, error.type]).toEqual([code, param, "invalid_request_error"]);
    expect(error.event_id).toBe(typeof event === "string" ? null : "mine");
    expect(error.message).not.toContain("Klingon");
    await expectAlive(client);
  });

  test("an update with one wrong field changes nothing", async () => {
    const { client } = await open();
    client.set({ transcription: { language: "de" }, turn_detection: { threshold: 7 } });
    await client.error();
    client.set({});
    expect(JSON.stringify(await client.next("session.updated"))).not.toContain("language");
  });

  test("the format cannot change within a session", async () => {
    const { client } = await open();
    client.append(new Uint8Array(SECOND));
    client.set({ format: { type: "audio/pcmu" } });
    expect(await client.error()).toMatchObject({
      code: "invalid_value",
      param: "session.audio.input.format",
    });
    client.send({ type: "transcription_session.update", session: { input_audio_format: "g711_ulaw" } });
    expect(await client.error()).toMatchObject({ param: "session.input_audio_format" });
    client.set({ format: { type: "audio/pcm", rate: 24_000 } });
    await client.next("session.updated");
  });

  test("an id that is too long is not repeated", async () => {
    const { client } = await open();
    client.append(new Uint8Array(2), { event_id: "x".repeat(513) });
    expect(await client.error()).toMatchObject({ code: "invalid_value", param: "event_id", event_id: null });
    await expectAlive(client);
  });

  test("a binary message", async () => {
    const { client } = await open();
    client.socket.send(new Uint8Array(1000));
    expect(await client.error()).toMatchObject({ code: "unsupported_media_type", event_id: null });
    await expectAlive(client);
  });
});

describe("limits", () => {
  test("a message above the size limit closes the connection", async () => {
    const { server, client } = await open();
    client.send("x".repeat(17 * 2 ** 20));
    expect(await client.closed()).toMatchObject({ code: 1009 });
    await until(() => server.metrics.connections === 0);
  });

  test("thousands of tiny pieces form one sound", async () => {
    const { server, client } = await open();
    const piece = JSON.stringify({ type: APPEND, audio: "AQA=" });
    for (let count = 0; count < 18_000; count++) client.send(piece);
    client.commit();
    const { usage } = await client.completed();
    expect(usage).toMatchObject({ seconds: 0.75 });
    expect(server.transcriber.heard.reduce((sum, { sound, known }) => sum + sound.bytes.length - known * 1536, 0)).toBe(
      35_328,
    );
  });

  test("up to five minutes of sound may wait to be processed", async () => {
    const { server, client } = await open();
    const ear = Promise.withResolvers<void>();
    server.transcriber.ear = ear.promise;
    const minute = new Uint8Array(58 * SECOND);
    for (let count = 0; count < 5; count++) client.append(minute);
    client.append(minute, { event_id: "sixth" });
    expect(await client.error()).toMatchObject({ code: "rate_limit_exceeded", param: "audio", event_id: "sixth" });
    ear.resolve();
    client.commit();
    expect((await client.completed()).usage).toMatchObject({ seconds: expect.any(Number) });
    client.append(minute);
    await expectAlive(client);
  });

  test("up to a thousand events may wait for the sound before them", async () => {
    const { server, client } = await open();
    const ear = Promise.withResolvers<void>();
    server.transcriber.ear = ear.promise;
    client.append(new Uint8Array(SECOND));
    for (let count = 0; count <= 1000; count++) client.commit();
    expect(await client.error()).toMatchObject({ code: "rate_limit_exceeded" });
    ear.resolve();
    await client.completed();
    await expectAlive(client);
  });

  test("a client that does not read its messages is disconnected", async () => {
    const server = serve();
    const raw = await RawClient.connect(server.port);
    raw.socket.write(upgradeRequest());
    await until(() => raw.received.includes("session.created"));
    raw.socket.pause();
    // Frames of one masked byte each, which is not JSON: the errors exceed what any system buffers for a reader.
    const frames = Buffer.alloc(7 * 100_000);
    for (let at = 0; at < frames.length; at += 7) frames.set([0x81, 0x81, 0, 0, 0, 0, 0x7b], at);
    raw.socket.write(frames);
    await until(() => server.metrics.connections === 0, 30_000);
    raw.leave();
    expect(server.metrics.answered).toContain("/v1/realtime 101");
  });

  test("a session accepts as much sound as --max-audio-minutes allows", async () => {
    const { server, client } = await open({ maxAudioMinutes: 0.1 });
    server.transcriber.segments = [];
    client.append(new Uint8Array(5 * SECOND).fill(1));
    client.append(new Uint8Array(2 * SECOND), { event_id: "last" });
    expect(await client.error()).toMatchObject({ code: "invalid_value", param: "audio", event_id: "last" });
    await client.completed();
    expect(await client.closed()).toMatchObject({ code: 1008 });
  });
});
