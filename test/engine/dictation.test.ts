// The real program, told what its own voice says: word for word, utterance by utterance, and through a crash.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { isBuilt, wordsOf } from "../native/whisper-harness.ts";
import { childrenOf } from "../support/processes.ts";
import { RealtimeClient } from "../support/realtime-client.ts";
import { startServer, type ServerProcess } from "../support/server.ts";

const isWhole = isBuilt && nativeFiles("").embeddedVoice !== undefined;
if (!isWhole) console.log("dictation is not tested: the voice or Whisper is not built (`bun build.ts media`)");

const FLAGS = ["--ctx", "1024", "--parallel", "2", "--threads", "1"];
const RATE = 24_000;
const first = "Good morning, the sky is blue.";
const second = "The quick brown fox jumps over the lazy dog.";

/** 16-bit samples, 24,000 a second. */
async function said({ url }: ServerProcess, input: string): Promise<Uint8Array> {
  const body = JSON.stringify({ input, response_format: "pcm", voice: "nova" });
  const headers = { "content-type": "application/json" };
  return (await fetch(`${url}/v1/audio/speech`, { method: "POST", headers, body })).bytes();
}

const silence = (seconds: number) => new Uint8Array(2 * RATE * seconds);
const english = { transcription: { language: "en" } };

/** As a microphone sends it. */
function dictate(client: RealtimeClient, sound: Uint8Array): void {
  const chunk = RATE / 5;
  for (let at = 0; at < sound.length; at += chunk) client.append(sound.subarray(at, at + chunk));
}

describe.skipIf(!isWhole)("dictation", () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startServer(FLAGS);
  }, 60_000);
  afterAll(() => server.stop());

  test("is heard as what was said, each sentence when it is over", async () => {
    const [one, two] = await Promise.all([said(server, first), said(server, second)]);
    const client = await RealtimeClient.open(server.url);
    client.set(english);
    for (const sound of [silence(1), one, silence(1), two, silence(1)]) dictate(client, sound);
    const texts = [await client.completed(), await client.completed()].map(({ transcript = "" }) =>
      wordsOf(transcript),
    );
    expect(texts).toEqual([wordsOf(first), wordsOf(second)]);

    const [begun, ended] = ["speech_started", "speech_stopped"].map((name) =>
      client.events
        .filter(({ type }) => type.endsWith(name))
        .map((event) => Number(event["audio_start_ms"] ?? event["audio_end_ms"])),
    );
    const lengths = [one, two].map(({ length }) => length / 48);
    expect(begun?.[0]).toBeWithin(600, 1500);
    expect(ended?.[0]).toBeWithin(1000 + (lengths[0] ?? 0), 2000 + (lengths[0] ?? 0));
    expect(begun?.[1]).toBeGreaterThanOrEqual(ended?.[0] ?? 0);
    client.close();
  }, 120_000);

  test("over the telephone, and of whole utterances at once, is the same", async () => {
    const sound = await said(server, second);
    const client = await RealtimeClient.open(server.url);
    client.set({ ...english, format: { type: "audio/pcmu" }, turn_detection: null });
    client.append(telephone(sound));
    client.commit();
    expect(wordsOf((await client.completed()).transcript ?? "")).toEqual(wordsOf(second));
    client.append(new Uint8Array(16_000).fill(0xff));
    client.commit();
    expect((await client.completed()).transcript).toBe("");
    client.close();
  }, 120_000);

  test("goes on behind a crash of the engine, which fails what it was recognising", async () => {
    const sound = await said(server, second);
    const client = await RealtimeClient.open(server.url);
    client.set({ ...english, turn_detection: null });
    client.append(sound);
    client.commit();
    await client.completed();
    const engine = childrenOf(server.pid).at(-1) ?? 0;
    // Half a minute: more than is recognised by then.
    for (let times = 0; times < 9; times++) client.append(sound);
    client.commit();
    await client.next("input_audio_buffer.committed");
    process.kill(engine, "SIGKILL");
    const { error } = await client.failed();
    expect(error).toMatchObject({ type: "server_error", code: "engine_crashed" });
    client.append(sound);
    client.commit();
    expect(wordsOf((await client.completed()).transcript ?? "")).toEqual(wordsOf(second));
    client.close();
  }, 120_000);
});

/** Every third sample, by G.711. */
function telephone(sound: Uint8Array): Uint8Array {
  const samples = new Int16Array(sound.buffer, sound.byteOffset, sound.length >> 1);
  return Uint8Array.from({ length: Math.floor(samples.length / 3) }, (_, at) => {
    // What a telephone leaves out would come back as noise.
    const sample = [0, 1, 2].reduce((sum, next) => sum + (samples[3 * at + next] ?? 0) / 3, 0);
    const magnitude = Math.min(Math.abs(sample), 32_635) + 132;
    const exponent = Math.floor(Math.log2(magnitude)) - 7;
    const mantissa = (magnitude >> (exponent + 3)) & 0x0f;
    return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
  });
}
