// The real program speaks, and hears what it said, in every format.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type TestServer } from "../support/server.ts";
import { sharedServer } from "../support/shared-server.ts";
import { soundRig } from "../audio/decode/rig.ts";
import { isBuilt, wordsOf } from "../native/whisper-harness.ts";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { SAMPLE_RATE } from "../../src/audio/decode/sound-tools.ts";
import { SPEECH_FORMATS } from "../../src/domain/speech.ts";

setDefaultTimeout(120_000);

const isWhole = isBuilt && nativeFiles("").embeddedVoice !== undefined;
if (!isWhole) console.log("speech is not tested: the voice or Whisper is not built (`bun build.ts media`)");

/** Formats that do not keep every sample. */
const LOSING = new Set<string>(["mp3", "opus", "aac"]);
const rig = soundRig();

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

  test("is as long in every format that has a head, and heard as what was said in those that lose something", async () => {
    const samples = (await (await say(server, { input, response_format: "pcm" })).bytes()).length / 2;
    for (const response_format of SPEECH_FORMATS.filter((format) => format !== "pcm")) {
      const sound = await (await say(server, { input, response_format, voice: "nova" })).bytes();
      const seconds = (await rig.decode(await rig.keep(sound))).length / SAMPLE_RATE;
      expect(Math.abs(seconds - samples / 24_000)).toBeLessThan(0.15);
      if (!LOSING.has(response_format)) continue;
      const { text } = await hear(server, new Blob([sound]));
      expect([response_format, wordsOf(text)]).toEqual([response_format, wordsOf(input)]);
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
