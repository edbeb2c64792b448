// Secrets that the server creates for a web page, which opens sessions of /v1/realtime with them.

import { describe, expect, onTestFinished, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { ClientSecrets, MOST_SECRETS } from "../../src/service/client-secrets.ts";
import { RealtimeClient } from "../support/realtime-client.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { hello, serve, type TestServer } from "./harness.ts";

const PATH = "/v1/realtime/client_secrets";
const FLAT_PATH = "/v1/realtime/transcription_sessions";
const adas = { authorization: "Bearer ada-key" };
const keyed = (overrides: Partial<Config> = {}) =>
  serve(hello, { apiKeys: [{ name: "ada", key: "ada-key" }], ...overrides });

const session = {
  type: "transcription",
  audio: {
    input: {
      format: { type: "audio/pcm", rate: 16_000 },
      transcription: { model: "gpt-4o-transcribe", language: "de", prompt: "Wien" },
      turn_detection: { type: "server_vad", silence_duration_ms: 800 },
    },
  },
};

async function secretOf(server: TestServer, body: object, headers = {}): Promise<string> {
  const response = await server.post(PATH, body, headers);
  expect(response.status).toBe(200);
  return ((await response.json()) as { value: string }).value;
}

/** Opens a session as a web page does. */
async function open(server: TestServer, value: string): Promise<RealtimeClient> {
  const protocols = ["realtime", `openai-insecure-api-key.${value}`];
  const client = await RealtimeClient.open(server.url, { protocols, query: "" });
  onTestFinished(() => client.close());
  return client;
}

test("a page can open any number of sessions with the secret, with the settings of the secret", async () => {
  const server = keyed();
  const value = await secretOf(server, { session }, adas);
  for (let count = 0; count < 2; count++) {
    const client = await open(server, value);
    const created = await client.next("session.created");
    expect(created.session).toMatchObject({
      audio: {
        input: {
          format: { type: "audio/pcm", rate: 16_000 },
          transcription: { model: "fake-whisper", language: "de", prompt: "Wien" },
          turn_detection: { threshold: 0.5, silence_duration_ms: 800 },
        },
      },
    });
    client.set({ transcription: { language: "fr" } });
    await client.next("session.updated");
  }
});

test("both forms are answered with the session as it will begin", async () => {
  const server = serve();
  const nested = await server.post(PATH, { session, expires_after: { anchor: "created_at", seconds: 60 } });
  expect(nested.headers.get("cache-control")).toBe("no-store");
  const flat = await server.post(FLAT_PATH, {
    input_audio_format: "g711_ulaw",
    input_audio_transcription: { language: "en" },
    turn_detection: null,
    client_secret: { expires_after: { seconds: 30 } },
  });
  const text = `${await nested.text()}\n${await flat.text()}\n`;
  const times = [...text.matchAll(/"expires_at":(\d+)/g)].map(([, at]) => Number(at) - Math.floor(Date.now() / 1000));
  expect(times[0]).toBeWithin(58, 61);
  expect(times[1]).toBeWithin(28, 31);
  await expectGolden("client-secrets.ndjson", text.replace(/"expires_at":\d+/g, '"expires_at":0'));
});

test("null and absent fields mean the defaults, and unknown fields are ignored", async () => {
  const server = serve();
  for (const body of [{}, { session: null, expires_after: null }, { session: {}, unknown: 1 }]) {
    const client = await open(server, await secretOf(server, body));
    const { session: begun } = await client.next("session.created");
    expect(begun).toMatchObject({ audio: { input: { format: { rate: 24_000 } } } });
  }
});

describe("a secret is valid for nothing else", () => {
  test("it opens no other route, nothing after it has expired, and nothing on another server", async () => {
    const server = keyed();
    const value = await secretOf(server, { expires_after: { seconds: 10 } }, adas);
    const own = { authorization: `Bearer ${value}` };
    for (const path of ["/v1/models", "/metrics"]) {
      expect((await fetch(server.url + path, { headers: own })).status).toBe(401);
    }
    expect((await server.post(PATH, {}, own)).status).toBe(401);
    expect((await server.post(PATH, {})).status).toBe(401);
    const before = await open(server, value);
    server.clock.pass(10_000);
    await expect(open(server, value)).rejects.toThrow();
    before.set({});
    await before.next("session.updated");
    await expect(open(server, "ek_0123")).rejects.toThrow();
    // A server without keys would not know the settings that the page expects.
    const response = await fetch(`${serve().url}/v1/realtime`, { headers: { authorization: "Bearer ek_0123" } });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: "invalid_api_key" } });
  });

  test("its sessions count towards the limits of the key that created it", async () => {
    const server = keyed({ keyConcurrent: 1 });
    const value = await secretOf(server, {}, adas);
    const client = await open(server, value);
    await expect(open(server, value)).rejects.toThrow();
    expect((await server.chat({}, adas)).status).toBe(429);
    client.close();
    await until(() => server.metrics.connections === 0);
    expect((await server.chat({}, adas)).status).toBe(200);
    expect(server.log.lines.find(({ fields }) => fields["route"] === "/v1/realtime")?.fields["client"]).toBe("ada");
  });
});

test.each([
  [PATH, { session: { type: "realtime" } }, "unsupported_parameter", "session.type"],
  [PATH, { session: { instructions: "Be brief." } }, "unsupported_parameter", "session.instructions"],
  [PATH, { session: { audio: { input: { format: 1 } } } }, "invalid_type", "session.audio.input.format"],
  [PATH, { expires_after: { seconds: 9 } }, "invalid_value", "expires_after.seconds"],
  [PATH, { expires_after: { seconds: 7201 } }, "invalid_value", "expires_after.seconds"],
  [PATH, { expires_after: { anchor: "now" } }, "invalid_value", "expires_after.anchor"],
  [PATH, [], "invalid_type", null],
  [FLAT_PATH, { input_audio_format: "mp3" }, "invalid_value", "input_audio_format"],
  [
    FLAT_PATH,
    { input_audio_transcription: { language: "xx-none" } },
    "invalid_value",
    "input_audio_transcription.language",
  ],
  [
    FLAT_PATH,
    { client_secret: { expires_after: { seconds: "1" } } },
    "invalid_type",
    "client_secret.expires_after.seconds",
  ],
])("%s refuses %j", async (path, body, code, param) => {
  const response = await serve().post(path, body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code, param } });
});

const settings = { model: "m", format: { encoding: "pcm16", rate: 24_000 }, turns: null } as const;

test("a client that has most of the secrets gives a quarter of them to another, its oldest first", () => {
  const secrets = new ClientSecrets(new TestClock());
  const own = Array.from({ length: MOST_SECRETS }, () => secrets.create({ settings, holder: "ada" }, 10).value);
  for (let count = 0; count < MOST_SECRETS / 4; count++) secrets.create({ settings, holder: "eve" }, 10);
  expect(() => secrets.create({ settings, holder: "eve" }, 10)).toThrow("1000 client secrets");
  expect(() => secrets.find([own[249] ?? ""])).toThrow("expired");
  expect(secrets.find([own[250] ?? ""])).toBeDefined();
});

test("the number of secrets is limited, and expired ones make way", () => {
  const clock = new TestClock();
  const secrets = new ClientSecrets(clock);
  const holder = "ada";
  for (let count = 0; count < MOST_SECRETS; count++) secrets.create({ settings, holder }, 10);
  expect(() => secrets.create({ settings, holder }, 10)).toThrow("1000 client secrets");
  clock.pass(10_000);
  const { value } = secrets.create({ settings, holder }, 10);
  expect(secrets.find(["other", value])?.value).toBe(value);
});

test.each([
  [PATH, { session }, "session.audio.input.turn_detection"],
  [FLAT_PATH, { turn_detection: {} }, "turn_detection"],
])("%s without a speech detector refuses to detect turns", async (path, body, param) => {
  const server = serve();
  server.transcriber.detectsSpeech = false;
  const response = await server.post(path, body);
  expect(response.status).toBe(400);
  const message = expect.stringContaining(`'${param}' must be null`);
  expect(await response.json()).toMatchObject({ error: { code: "unsupported_parameter", param, message } });
});
