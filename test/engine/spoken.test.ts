// The real program speaks, and hears what it said, in every format.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type TestServer } from "../support/server.ts";
import { sharedServer } from "../support/shared-server.ts";
import { soundRig } from "../audio/decode/rig.ts";
import { isBuilt } from "../native/whisper-harness.ts";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { SAMPLE_RATE } from "../../src/audio/decode/sound-tools.ts";
import { SPEECH_FORMATS } from "../../src/domain/speech.ts";

setDefaultTimeout(120_000);

const isWhole = isBuilt && nativeFiles("").embeddedVoice !== undefined;
if (!isWhole) console.log("speech is not tested: the voice or Whisper is not built (`bun build.ts media`)");

const rig = soundRig();
/** A tenth of a second. */
const PIECE = SAMPLE_RATE / 10;

const FLAGS = ["--no-model", "--threads", "1"];
const input = "The quick brown fox jumps.";

const say = (server: TestServer, body: object) => server.post("/v1/audio/speech", body);

async function hear({ url }: TestServer, sound: Blob): Promise<{ text: string }> {
  const body = new FormData();
  body.append("file", sound, "sound");
  body.append("language", "en");
  const response = await fetch(`${url}/v1/audio/transcriptions`, { method: "POST", body });
  expect(response.status).toBe(200);
  return (await response.json()) as { text: string };
}

describe.skipIf(!isWhole)("speech", () => {
  const server = sharedServer(...FLAGS);

  test("sounds the same in every format that has a head", async () => {
    const decoded = async (response_format: string) => {
      const sound = await (await say(server, { input, response_format, voice: "nova" })).bytes();
      return rig.decode(await rig.keep(sound));
    };
    const whole = await decoded("wav");
    const pcm = (await (await say(server, { input, response_format: "pcm" })).bytes()).length / 2;
    expect(whole.length / SAMPLE_RATE).toBeCloseTo(pcm / 24_000, 2);
    for (const format of SPEECH_FORMATS.filter((name) => name !== "pcm" && name !== "wav")) {
      const sound = await decoded(format);
      expect(Math.abs(sound.length - whole.length) / SAMPLE_RATE).toBeLessThan(0.15);
      // What a format puts before the sound lasts less than 0.1 seconds.
      const alike = [0, 1, 2, 3, 4, 5].map((shift) =>
        likeness(loudness(sound.subarray((shift * PIECE) / 5)), loudness(whole)),
      );
      expect([format, Math.max(...alike) > 0.98]).toEqual([format, true]);
    }
  });

  test("is heard from its beginning: with a capital letter", async () => {
    const sentence = "An old sailor carried a letter from Paris before breakfast.";
    const { text } = await hear(server, await (await say(server, { input: sentence, response_format: "wav" })).blob());
    expect(text).toStartWith("An old");
  });

  test("of one sentence says how long it is; events hold the same file", async () => {
    const body = { input: "Good morning.", response_format: "wav" };
    const file = await (await say(server, body)).bytes();
    expect(new DataView(file.buffer, file.byteOffset).getUint32(40, true)).toBe(file.length - 44);
    const events = (await (await say(server, { ...body, stream_format: "sse" })).text())
      .split("\n")
      .filter((line) => line.startsWith("data: "))
      .map((line) => JSON.parse(line.slice(6)) as { type: string; audio?: string });
    expect(events.at(-1)?.type).toBe("speech.audio.done");
    expect(Buffer.concat(events.map(({ audio = "" }) => Buffer.from(audio, "base64"))).equals(file)).toBe(true);
  });
});

const loudness = (samples: Float32Array): number[] =>
  Array.from({ length: Math.floor(samples.length / PIECE) }, (_, at) =>
    Math.sqrt(samples.subarray(at * PIECE, (at + 1) * PIECE).reduce((sum, sample) => sum + sample * sample, 0)),
  );

/** Returns 1 for lists that differ only in scale. */
function likeness(a: readonly number[], b: readonly number[]): number {
  const product = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}
