// Which clients may open a session of /v1/realtime, and how one ends: by its client, its id, its limits, its engine
// or the server.

import { describe, expect, onTestFinished, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { ModelRouter } from "../../src/service/model-router.ts";
import { RealtimeService } from "../../src/service/realtime.ts";
import { TranscriptionService } from "../../src/service/transcriptions.ts";
import { dice } from "../support/dice.ts";
import { RealtimeClient } from "../support/realtime-client.ts";
import { until } from "../support/until.ts";
import { hello, serve, type TestServer } from "./harness.ts";
import { RawClient, upgradeRequest } from "./raw.ts";

const PATH = "/v1/realtime";
/** One second of 16-bit samples at 24 kHz. */
const speech = new Uint8Array(48_000).fill(1);
const silence = new Uint8Array(48_000);
const crashed = new SvcError("engine_crashed", "The model engine stopped while computing this request.");
const apiKeys = [{ name: "ada", key: "ada-key" }];

type Options = Parameters<typeof RealtimeClient.open>[1];

async function open(server: TestServer, options?: Options): Promise<RealtimeClient> {
  const client = await RealtimeClient.open(server.url, options);
  onTestFinished(() => client.close());
  return client;
}

async function start(overrides: Partial<Config> = {}, options?: Options) {
  const server = serve(hello, overrides);
  return { server, client: await open(server, options) };
}

/** Sends a sentence and the silence after it. */
function say(client: RealtimeClient): void {
  for (const sound of [speech, silence]) client.append(sound);
}

/** Returns the status line and headers of the answer to an upgrade with these headers. */
async function answerTo(server: TestServer, headers: readonly string[], path?: string): Promise<string> {
  const raw = await RawClient.connect(server.port);
  raw.socket.write(upgradeRequest(headers, path));
  await until(() => raw.received.includes("\r\n\r\n"));
  raw.leave();
  return raw.received;
}
const statusOf = (head: string) => Number(head.split(" ")[1]);

describe("opening a session", () => {
  test("without an upgrade is refused with a message", async () => {
    const server = serve();
    const response = await fetch(server.url + PATH);
    expect([response.status, response.headers.get("upgrade")]).toEqual([426, "websocket"]);
    expect(await response.json()).toMatchObject({ error: { code: "upgrade_required", type: "invalid_request_error" } });
    const posted = await server.post(PATH, {});
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  test("returns the request id and one of the offered subprotocols", async () => {
    const head = await answerTo(serve(), [
      "X-Request-ID: mine",
      "Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.x, openai-beta.realtime-v1",
    ]);
    expect(head).toStartWith("HTTP/1.1 101");
    expect(head).toMatch(/^X-Request-ID: mine\r$/im);
    expect(head).toMatch(/^Compat-Request-ID: mine\r$/im);
    expect(head).toMatch(/^Sec-WebSocket-Protocol: realtime\r$/im);
    expect(head.match(/^sec-websocket-protocol/gim)).toHaveLength(1);
    for (const headers of [[], ["Sec-WebSocket-Protocol: openai-insecure-api-key.x, other"]]) {
      const without = await answerTo(serve(), headers);
      expect(without).toStartWith("HTTP/1.1 101");
      expect(without).not.toMatch(/^sec-websocket-protocol/im);
    }
  });

  test.each<[string, readonly string[], number, string?]>([
    ["pages of other origins", ["Origin: https://evil.example"], 403],
    ["what other pages embed", ["Sec-Fetch-Site: cross-site"], 403],
    ["names that are not ours", ["Host: evil.example"], 403],
    ["a key of another length", ["Sec-WebSocket-Key: abc"], 400],
    ["the wrong connection", ["Connection: keep-alive"], 426],
    ["a deadline that is none", ["X-Svc-Deadline-Ms: soon"], 400],
    ["another intent", [], 400, `${PATH}?intent=conversation`],
    ["a call", [], 400, `${PATH}?call_id=rtc_1`],
  ])("is refused for %s", async (_, headers, status, path = PATH) => {
    const server = serve();
    const head = await answerTo(server, headers, path);
    expect(statusOf(head)).toBe(status);
    expect(head).toContain('"error":{"message":');
    expect(server.metrics.connections).toBe(0);
  });

  test("is allowed for pages of this machine and of --cors-origin", async () => {
    const server = serve(hello, { corsOrigins: ["https://app.example"] });
    for (const origin of ["http://localhost:5173", "https://app.example"]) {
      expect(statusOf(await answerTo(server, [`Origin: ${origin}`, "Sec-Fetch-Site: cross-site"]))).toBe(101);
    }
  });

  test("requires a key, which may be a subprotocol because pages cannot send headers", async () => {
    const server = serve(hello, { apiKeys });
    const protocol = (key: string) => `Sec-WebSocket-Protocol: realtime, openai-insecure-api-key.${key}`;
    expect(statusOf(await answerTo(server, []))).toBe(401);
    expect(statusOf(await answerTo(server, [protocol("other")]))).toBe(401);
    for (const header of ["Authorization: Bearer ada-key", "X-Api-Key: ada-key", protocol("ada-key")]) {
      const head = await answerTo(server, [header]);
      expect([header, statusOf(head)]).toEqual([header, 101]);
      expect(head).not.toContain("ada-key");
    }
  });

  test("counts towards the limits of its key until the session ends", async () => {
    const options = { headers: { authorization: "Bearer ada-key" } };
    const { server, client } = await start({ apiKeys, keyConcurrent: 1 }, options);
    expect(statusOf(await answerTo(server, ["Authorization: Bearer ada-key"]))).toBe(429);
    client.close();
    await until(() => server.metrics.connections === 0);
    expect(statusOf(await answerTo(server, ["Authorization: Bearer ada-key"]))).toBe(101);
  });

  test("is refused when too many sessions are open", async () => {
    const { server, client } = await start({ maxRealtimeSessions: 1 });
    const head = await answerTo(server, []);
    expect(statusOf(head)).toBe(503);
    expect(head).toContain("server_busy");
    expect(head).toMatch(/^retry-after: \d+\r$/im);
    client.close();
    await until(() => server.metrics.connections === 0);
    await open(server);
  });

  test("of a client without one ends the most silent session of a client that has them all", async () => {
    const server = serve(hello, { apiKeys: [...apiKeys, { name: "eve", key: "eve-key" }], maxRealtimeSessions: 2 });
    const as = (key: string) => open(server, { headers: { authorization: `Bearer ${key}` } });
    const [one, silent] = [await as("ada-key"), await as("ada-key")];
    for (const client of [one, silent]) await client.next("session.created");
    one.send({ type: "input_audio_buffer.clear" });
    await one.next("input_audio_buffer.cleared");
    const other = await as("eve-key");
    await other.next("session.created");
    expect(await silent.next("error")).toMatchObject({ error: { code: "rate_limit_exceeded" } });
    expect(await silent.closed()).toMatchObject({ code: 1008 });
    for (const key of ["ada-key", "eve-key"]) {
      expect(statusOf(await answerTo(server, [`Authorization: Bearer ${key}`]))).toBe(503);
    }
    expect(one.closing).toBeUndefined();
  });

  test("of another client ends none whose speech is not text yet", async () => {
    const server = serve(hello, { apiKeys: [...apiKeys, { name: "eve", key: "eve-key" }], maxRealtimeSessions: 2 });
    const as = (key: string) => open(server, { headers: { authorization: `Bearer ${key}` } });
    const gate = Promise.withResolvers<void>();
    server.transcriber.gate = gate.promise;
    const [recognised, speaking] = [await as("ada-key"), await as("ada-key")];
    say(recognised);
    await recognised.next("conversation.item.input_audio_transcription.delta");
    speaking.append(speech);
    await speaking.next("input_audio_buffer.speech_started");
    expect(statusOf(await answerTo(server, ["Authorization: Bearer eve-key"]))).toBe(503);
    speaking.send({ type: "input_audio_buffer.clear" });
    await speaking.next("input_audio_buffer.cleared");
    const other = await as("eve-key");
    await other.next("session.created");
    expect(await speaking.next("error")).toMatchObject({ error: { code: "rate_limit_exceeded" } });
    gate.resolve();
    await recognised.completed();
  });

  test("is refused without a transcription model", () => {
    const { requests, transcriptions: known } = serve();
    const mediaLimits = { maxAudioBytes: 1 } as never;
    const router = new ModelRouter([]);
    const { recordings } = known;
    const transcriptions = new TranscriptionService({ router, requests, recordings, mediaLimits });
    const service = new RealtimeService({
      transcriptions,
      requests,
      clock: systemClock,
      maxSessions: 1,
      maxSeconds: 1,
    });
    const listener = { emit: () => {}, onEnd: () => {}, onUnexpected: () => {} };
    expect(() => service.open({ id: "1" }, service.settings({}), listener)).toThrow("--transcription-model");
    expect([service.openCount, requests.registeredCount]).toEqual([0, 0]);
  });

  test("without a speech detector leaves it to the client to end utterances", async () => {
    const server = serve();
    server.transcriber.detectsSpeech = false;
    const client = await open(server);
    expect(JSON.stringify(await client.next("session.created"))).toContain('"turn_detection":null');
    client.set({ turn_detection: { type: "server_vad" } });
    expect(await client.error()).toMatchObject({
      code: "unsupported_parameter",
      param: "session.audio.input.turn_detection",
    });
  });
});

describe("a session ends", () => {
  test("when its client disconnects, and so does the work on its sound", async () => {
    const { server, client } = await start();
    server.transcriber.gate = new Promise(() => {});
    // The second utterance waits for the first.
    for (let utterance = 0; utterance < 2; utterance++) {
      say(client);
      await client.next("input_audio_buffer.committed");
    }
    await until(() => server.requests.activeCount === 1);
    expect(server.metrics.connections).toBe(1);
    client.close();
    await until(() => server.requests.activeCount === 0 && server.metrics.connections === 0);
    expect(server.requests.registeredCount).toBe(0);
    const line = server.log.lines.find(({ fields }) => fields["route"] === PATH);
    expect(line?.fields).toMatchObject({ method: "GET", status: 101, finish: "closed", seconds: 4 });
    expect(server.metrics.answered).toEqual([`${PATH} 101`]);
    expect(server.metrics.calls).toEqual(["transcription started", "transcription finished cancelled"]);
  });

  test("after five minutes without any event", async () => {
    const { server, client } = await start();
    server.clock.pass(200_000);
    client.append(silence);
    await until(() => server.transcriber.heard.length > 0);
    server.clock.pass(200_000);
    client.set({});
    await client.next("session.updated");
    server.clock.pass(301_000);
    expect(await client.error()).toMatchObject({ code: "request_timeout", event_id: null });
    expect(await client.closed()).toEqual({ code: 1008, reason: "the session reached a limit" });
  });

  test("not while its sound is recognised, however long that takes", async () => {
    const { server, client } = await start();
    const gate = Promise.withResolvers<void>();
    server.transcriber.gate = gate.promise;
    say(client);
    await client.next("conversation.item.input_audio_transcription.delta");
    server.clock.pass(301_000);
    server.clock.pass(298_000);
    gate.resolve();
    await client.completed();
    // Long after the client's last event, but not after the text.
    server.clock.pass(5000);
    client.set({});
    await client.next("session.updated");
    server.clock.pass(301_000);
    expect(await client.error()).toMatchObject({ code: "request_timeout" });
  });

  test("at its deadline", async () => {
    const { server, client } = await start({}, { headers: { "X-Svc-Deadline-Ms": "60000" } });
    await client.next("session.created");
    server.clock.pass(60_000);
    expect(await client.error()).toMatchObject({ code: "deadline_exceeded" });
    expect(await client.closed()).toMatchObject({ code: 1008 });
  });

  test("when it is cancelled by its id, and a single utterance by the id of that", async () => {
    const { server, client } = await start({}, { headers: { "X-Request-ID": "dictation" } });
    server.transcriber.gate = new Promise(() => {});
    say(client);
    const { item_id } = await client.next("conversation.item.input_audio_transcription.delta");
    const cancel = async (id: string | undefined) =>
      (await server.post(`/v1/chat/completions/${id}/cancel`, {})).status;
    expect(await cancel(item_id)).toBe(200);
    const { error, item_id: failed } = await client.failed();
    expect([failed, error]).toEqual([
      item_id,
      expect.objectContaining({ code: "request_cancelled", type: "cancelled" }),
    ]);
    expect(await cancel("dictation")).toBe(200);
    expect(await client.error()).toMatchObject({ code: "request_cancelled" });
    expect(await client.closed()).toMatchObject({ code: 1000 });
    expect(await cancel("dictation")).toBe(404);
  });

  test("not when its id is cancelled with another API key", async () => {
    const keys = [...apiKeys, { name: "eve", key: "eve-key" }];
    const headers = { "X-Request-ID": "dictation", "X-Api-Key": "ada-key" };
    const { server, client } = await start({ apiKeys: keys }, { headers });
    const cancelWith = async (key: string) =>
      (await server.post("/v1/chat/completions/dictation/cancel", {}, { "x-api-key": key })).status;
    expect(await cancelWith("eve-key")).toBe(404);
    expect(await cancelWith("ada-key")).toBe(200);
    expect(await client.closed()).toMatchObject({ code: 1000 });
  });

  test("not when the engine crashes: the current utterance fails, and the next is transcribed", async () => {
    const { server, client } = await start();
    server.transcriber.refusal = crashed;
    say(client);
    expect((await client.failed()).error).toEqual({
      type: "server_error",
      code: "engine_crashed",
      message: crashed.message,
    } as never);
    server.transcriber.refusal = undefined;
    say(client);
    await client.completed();
  });

  test("not when the model finds no words: the text is empty", async () => {
    const { server, client } = await start();
    server.transcriber.refusal = new SvcError("no_speech", "Nobody speaks.");
    say(client);
    expect((await client.completed()).transcript).toBe("");
  });

  test("not when the queue is full: the utterance fails", async () => {
    const { server, client } = await start({ parallel: 1, maxQueue: 0 });
    server.transcriber.gate = new Promise(() => {});
    say(client);
    await client.next("conversation.item.input_audio_transcription.delta");
    const other = await open(server);
    say(other);
    expect((await other.failed()).error).toMatchObject({ code: "server_busy" });
  });

  test("when the engine can no longer process sound", async () => {
    const { server, client } = await start();
    server.transcriber.ear = Promise.reject(new SvcError("engine_unavailable", "The model engine is down."));
    server.transcriber.ear.catch(() => {});
    client.append(speech);
    expect(await client.error()).toMatchObject({ code: "engine_unavailable" });
    expect(await client.closed()).toMatchObject({ code: 1011 });
  });

  test("on a bug with a short message, and the log has the details", async () => {
    const { server, client } = await start();
    server.transcriber.ear = Promise.reject(new TypeError("x is not a function"));
    server.transcriber.ear.catch(() => {});
    client.append(speech);
    const { code, message } = await client.error();
    expect([code, message]).toEqual(["internal_error", "An internal error occurred."]);
    await client.closed();
    const told = server.log.lines.find(({ message }) => message === "unexpected error");
    expect([told?.level, told?.fields["name"]]).toEqual(["error", "TypeError"]);
  });

  test("when the server stops, after the current and the last utterance are transcribed", async () => {
    const { server, client } = await start({ drainTimeoutMs: 5000 });
    const gate = Promise.withResolvers<void>();
    server.transcriber.gate = gate.promise;
    say(client);
    await client.next("conversation.item.input_audio_transcription.delta");
    const stopped = server.stop();
    expect(await client.error()).toMatchObject({ code: "shutting_down" });
    gate.resolve();
    await client.completed();
    expect(await client.closed()).toEqual({ code: 1001, reason: "the server is shutting down" });
    await stopped;
  });

  test("when the server stops, after the unfinished utterance", async () => {
    const { server, client } = await start({ drainTimeoutMs: 5000 });
    client.append(speech);
    await client.next("input_audio_buffer.speech_started");
    const stopped = server.stop();
    expect(await client.error()).toMatchObject({ code: "shutting_down" });
    await client.completed();
    expect(await client.closed()).toMatchObject({ code: 1001 });
    await stopped;
  });

  test("at the drain timeout when work remains", async () => {
    const { server, client } = await start({ drainTimeoutMs: 20 });
    server.transcriber.gate = new Promise(() => {});
    say(client);
    await client.next("conversation.item.input_audio_transcription.delta");
    await server.stop();
    expect(await client.closed()).toMatchObject({ code: 1001 });
    expect([server.requests.activeCount, server.requests.registeredCount, server.metrics.connections]).toEqual([
      0, 0, 0,
    ]);
  });
});

test("sessions that open and close leave nothing behind, at whatever point they end", async () => {
  const server = serve(hello, { maxRealtimeSessions: 1000 });
  const roll = dice(5);
  server.transcriber.gate = new Promise(() => {});
  const visits = Array.from({ length: 120 }, async (_, visit) => {
    if (visit % 3 === 0) {
      // The client disconnects before or during the upgrade.
      const raw = await RawClient.connect(server.port);
      raw.socket.write(upgradeRequest());
      await Bun.sleep(roll(3));
      return raw.leave();
    }
    const client = await RealtimeClient.open(server.url);
    if (visit % 2 === 0) client.append(speech.subarray(0, 2 * (1 + roll(24_000))));
    if (visit % 5 === 0) say(client);
    if (visit % 7 === 0) await client.next("session.created");
    await Bun.sleep(roll(20));
    client.close();
  });
  await Promise.all(visits);
  await until(() => server.metrics.connections === 0);
  expect([server.requests.activeCount, server.requests.registeredCount]).toEqual([0, 0]);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
});

test("sessions take turns by client", async () => {
  const server = serve(hello, { apiKeys: [...apiKeys, { name: "eve", key: "eve-key" }] });
  for (const key of ["ada-key", "eve-key"]) {
    const client = await open(server, { headers: { authorization: `Bearer ${key}` } });
    say(client);
    await client.completed();
  }
  expect(server.transcriber.clients).toEqual(["ada", "eve"]);
});
