// The real program, told what its own voice says: word for word, utterance by utterance.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { wordsOf } from "../native/whisper-harness.ts";
import { RealtimeClient } from "../support/realtime-client.ts";
import { dictate, dictationServer, english, first, isWhole, said, second, silence } from "./dictation-rig.ts";

setDefaultTimeout(120_000);

describe.skipIf(!isWhole)("dictation", () => {
  const server = dictationServer();

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
  });

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
  });
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
