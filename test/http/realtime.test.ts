import { describe, expect, onTestFinished, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { RealtimeClient } from "../support/realtime-client.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { hello, serve, type TestServer } from "./harness.ts";

/** A frame of 32 ms in 16-bit samples at 24 kHz, in bytes. */
const FRAME = 1536;
/** Sound that is speech, or silence, for this many frames. */
const speech = (frames: number) => new Uint8Array(frames * FRAME).fill(1);
const silence = (frames: number) => new Uint8Array(frames * FRAME);
/** More frames of silence than needed to end an utterance. */
const PAUSE = 20;

const segment = (text: string) => ({
  start: 0,
  end: 1,
  text,
  tokens: [1],
  averageLogprob: -0.2,
  compressionRatio: 1,
  noSpeechProbability: 0,
  temperature: 0,
});

const start = (overrides: Partial<Config> = {}) => {
  const server = serve(hello, overrides);
  server.transcriber.segments = [segment(" Hello"), segment(" there.")];
  return server;
};

async function open(server: TestServer, options?: Parameters<typeof RealtimeClient.open>[1]): Promise<RealtimeClient> {
  const client = await RealtimeClient.open(server.url, options);
  onTestFinished(() => client.close());
  return client;
}

const types = ({ events }: RealtimeClient) => events.map(({ type }) => type);

describe("a session", () => {
  test("reports an utterance from its beginning until its text is complete", async () => {
    const server = start();
    const client = await open(server);
    client.set({ transcription: { model: "whisper-1", language: "de-AT", prompt: "Wien" } });
    client.append(silence(50));
    client.append(speech(30));
    client.append(silence(PAUSE));
    await client.completed();
    client.append(speech(10));
    client.append(silence(PAUSE));
    await client.completed();
    await expectGolden("realtime.ndjson", client.events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    const [first] = server.transcriber.utterances;
    expect(first).toMatchObject({ language: "de", prompt: "Wien", translate: false, temperature: 0 });
    // Includes the sound just before the speech and the fading sound after it.
    expect(first?.sound.bytes.length).toBeWithin(40 * FRAME, 50 * FRAME);
  });

  test("uses the beta form of the events for a client that requests it", async () => {
    const server = start();
    const client = await open(server, { headers: { "OpenAI-Beta": "realtime=v1" } });
    const session = {
      input_audio_format: "pcm16",
      input_audio_transcription: { model: "whisper-1", language: "en", prompt: "" },
      turn_detection: { type: "server_vad", threshold: 0.6, prefix_padding_ms: 100, silence_duration_ms: 300 },
      input_audio_noise_reduction: { type: "near_field" },
      include: [],
    };
    client.send({ type: "transcription_session.update", session });
    client.append(speech(30));
    client.append(silence(PAUSE));
    await client.completed();
    await expectGolden("realtime-flat.ndjson", client.events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  });

  test("reports errors and cleared sound", async () => {
    const server = start();
    const client = await open(server);
    client.send({ type: "response.create", event_id: "mine" });
    client.send({ type: "session.update", session: { type: "transcription", audio: { input: { format: 1 } } } });
    server.transcriber.refusal = new SvcError(
      "engine_crashed",
      "The model engine stopped while computing this request.",
    );
    client.append(speech(30));
    client.append(silence(PAUSE));
    await client.failed();
    client.send({ type: "input_audio_buffer.clear" });
    await client.next("input_audio_buffer.cleared");
    await expectGolden("realtime-errors.ndjson", client.events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  });

  test("ends utterances by commit when turn detection is off", async () => {
    const client = await open(start());
    client.set({ turn_detection: null });
    client.append(speech(30));
    client.append(silence(3 * PAUSE));
    client.append(speech(30));
    client.commit();
    const { transcript } = await client.completed();
    expect(transcript).toBe("Hello there.");
    expect(types(client)).toEqual([
      "session.created",
      "session.updated",
      "input_audio_buffer.committed",
      "conversation.item.added",
      "conversation.item.done",
      "conversation.item.input_audio_transcription.delta",
      "conversation.item.input_audio_transcription.delta",
      "conversation.item.input_audio_transcription.completed",
    ]);
  });

  test("sends the engine nothing to transcribe while nobody speaks", async () => {
    const server = start();
    const client = await open(server);
    client.append(silence(500));
    client.commit();
    expect(await client.completed()).toMatchObject({ transcript: "", usage: { type: "duration", seconds: 16 } });
    expect(server.transcriber.utterances).toEqual([]);
  });

  test("accepts telephone sound and 16 kHz", async () => {
    const server = start();
    for (const format of [{ type: "audio/pcmu" }, { type: "audio/pcma" }, { type: "audio/pcm", rate: 16_000 }]) {
      const client = await open(server);
      client.set({ format, turn_detection: null });
      const updated = await client.next("session.updated");
      expect(updated.session).toMatchObject({ audio: { input: { format } } });
      client.append(speech(100));
      client.commit();
      await client.next("input_audio_buffer.committed");
      client.close();
    }
    expect(server.transcriber.heard.map(({ sound }) => sound.format)).toContainEqual({ encoding: "alaw", rate: 8000 });
  });

  test("transcribes the beginning of a long utterance while it goes on", async () => {
    const server = start();
    const client = await open(server);
    // Thirteen seconds of speech, then a pause.
    client.append(speech(406));
    client.append(silence(12));
    const { delta, item_id } = await client.next("conversation.item.input_audio_transcription.delta");
    expect(delta).toBe("Hello");
    expect(types(client)).not.toContain("input_audio_buffer.speech_stopped");
    client.append(speech(20));
    client.append(silence(PAUSE));
    const whole = await client.completed();
    expect([whole.item_id, whole.transcript]).toEqual([item_id, "Hello there. Hello there."]);
    const pieces = server.transcriber.utterances;
    expect(pieces).toHaveLength(2);
    // The language found for the first piece applies to the second.
    expect(pieces.map(({ language }) => language)).toEqual([undefined, "en"]);
  });

  test("splits speech without a pause, and continues with the next utterance", async () => {
    const server = start();
    const client = await open(server);
    const minute = speech(1875);
    for (let count = 0; count < 5; count++) {
      client.append(minute);
      await until(() => server.transcriber.heard.length > 0);
    }
    const first = await client.completed();
    expect(first).toMatchObject({ usage: { seconds: 300 } });
    client.append(minute);
    client.append(silence(PAUSE));
    const second = await client.completed();
    expect(second.usage).toMatchObject({ seconds: expect.any(Number) });
    expect(types(client).filter((type) => type.endsWith("speech_started"))).toHaveLength(2);
    const longest = Math.max(...server.transcriber.utterances.map(({ sound }) => sound.bytes.length));
    expect(longest).toBeLessThan(30 * 48_000);
  }, 30_000);

  test("drops sound that is cleared", async () => {
    const server = start();
    const client = await open(server);
    client.set({ turn_detection: null });
    client.append(speech(30));
    client.send({ type: "input_audio_buffer.clear" });
    await client.next("input_audio_buffer.cleared");
    client.commit({ event_id: "mine" });
    expect(await client.error()).toMatchObject({ code: "input_audio_buffer_commit_empty", event_id: "mine" });
    client.append(speech(10));
    client.commit();
    await client.completed();
    expect(server.transcriber.utterances).toHaveLength(1);
  });

  test("stops transcribing cleared sound and processes no more of it", async () => {
    const server = start();
    server.transcriber.gate = new Promise(() => {});
    const client = await open(server);
    client.set({ turn_detection: null });
    // Nine seconds of speech and a pause make one piece.
    client.append(speech(281));
    client.append(silence(PAUSE));
    await until(() => server.transcriber.told === 1);
    const ear = Promise.withResolvers<void>();
    server.transcriber.ear = ear.promise;
    const before = server.transcriber.heard.length;
    client.append(speech(1));
    await until(() => server.transcriber.heard.length > before);
    client.append(speech(1000));
    client.send({ type: "input_audio_buffer.clear" });
    client.send({ type: "nothing" });
    await client.error();
    ear.resolve();
    await client.next("input_audio_buffer.cleared");
    await until(() => server.requests.activeCount === 0);
    expect(server.transcriber.heard).toHaveLength(before + 1);
    expect(types(client).filter((type) => type.includes("transcription"))).toEqual([]);
    // Sound that was already processed precedes the new sound as context.
    expect(server.transcriber.heard.map(({ known }) => known)).toEqual([0, ...Array(before).fill(1)]);
  });

  test("changes only the given settings", async () => {
    const client = await open(start());
    client.set({
      transcription: { language: "fr", prompt: "Paris" },
      turn_detection: { type: "server_vad", threshold: 0.7 },
    });
    client.set({
      transcription: { prompt: null },
      turn_detection: { silence_duration_ms: 800 },
      noise_reduction: { type: "far_field" },
    });
    await client.next("session.updated");
    const { session } = await client.next("session.updated");
    expect(session).toMatchObject({
      audio: {
        input: {
          transcription: { model: "fake-whisper", language: "fr" },
          turn_detection: { type: "server_vad", threshold: 0.7, prefix_padding_ms: 300, silence_duration_ms: 800 },
          noise_reduction: null,
        },
      },
    });
    client.send({ type: "session.update", session: { turn_detection: null, input_audio_format: "g711_ulaw" } });
    const flat = await client.next("session.updated");
    expect(flat.session).toMatchObject({ input_audio_format: "g711_ulaw", turn_detection: null });
  });
});
