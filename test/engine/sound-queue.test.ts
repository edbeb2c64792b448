// Sounds that are decoded before the media library gets them.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { openAudio } from "../../ffi/audio/binding.ts";
import type { SoundTools } from "../../src/audio/decode/sound-tools.ts";
import { readWav } from "../../src/audio/decode/wav.ts";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { contentOf, type Media } from "../../src/domain/media.ts";
import { SoundQueue } from "../../src/engine/text/child/sound-queue.ts";
import { frequency, TONE, wav } from "../audio/sounds.ts";
import { fixture, isBuilt, libraries } from "../audio/decode/rig.ts";
import { plainRequest } from "../support/request.ts";

const ogg = readFileSync(fixture("opus.ogg"));
const image: Media = { kind: "image", id: "i", width: 1, height: 1, rgb: new Uint8Array(3) };

/** Read with ffmpeg. */
const amr = Buffer.from("#!AMR\n");

let audio: SoundTools["audio"] | undefined;

function requestOf(client: string, ...media: Media[]): GenerateRequest {
  const content = media.map(({ kind }, at) => {
    const source = kind === "audio" ? { kind, data: "" } : { kind, url: "", detail: "auto" as const };
    return { type: "media" as const, source, param: `sound ${at}` };
  });
  const owner = { client, ...(client === "batch" && { background: true as const }) };
  return plainRequest("", { ...owner, messages: [{ role: "user", content }], media });
}

let sounds = 0;
const sound = (bytes: Uint8Array, id = `sound ${sounds++}`): Media => ({ kind: "audio", id, bytes });

/** `decoding` is called while ffmpeg decodes a second. */
function start(maxSeconds = 60, decoding: () => void | Promise<void> = () => {}, mostBytes?: number) {
  audio ??= openAudio(libraries);
  async function* run() {
    await decoding();
    yield new Uint8Array(16_000 * Float32Array.BYTES_PER_ELEMENT);
  }
  const queue = new SoundQueue({ audio, run, ffmpeg: "ffmpeg" }, maxSeconds, mostBytes);
  /** What became of the prompts, in order. */
  const told: string[] = [];
  const add = (key: number, client: string, ...media: Media[]) =>
    queue.decoded(key, requestOf(client, ...media)).then(
      (decoded) => void told.push(`${decoded ? "decoded" : "dropped"} ${key}`),
      () => void told.push(`failed ${key}`),
    );
  return { queue, add, told };
}

describe.skipIf(!isBuilt)("sounds", () => {
  test("become WAV, and what the library reads stays as it is", async () => {
    const { queue } = start();
    const native = sound(wav({ seconds: 1 }));
    expect(queue.isFor([image, native])).toBe(false);
    const media = [image, native, sound(ogg), sound(readFileSync(fixture("aac.m4a")))];
    expect(queue.isFor(media)).toBe(true);
    const [first, second, ...decoded] = (await queue.decoded(1, requestOf("a", ...media))) ?? [];
    expect([first, second]).toEqual([image, native]);
    expect(decoded).toHaveLength(2);
    for (const one of decoded) {
      const { sampleRate, samples } = readWav(contentOf(one));
      expect(sampleRate).toBe(16_000);
      expect(samples.length / sampleRate).toBeWithin(1.95, 2.1);
      expect(frequency(samples)).toBeWithin(TONE * 0.99, TONE * 1.01);
    }
    expect(queue.busy).toBe(true);
    queue.leave(1);
    expect(queue.busy).toBe(false);
  });

  test("are decoded for one prompt at a time, clients in turns, batches last", async () => {
    let [parallel, most] = [0, 0];
    const { queue, add, told } = start(60, async () => {
      most = Math.max(most, ++parallel);
      await Bun.sleep(1);
      parallel--;
    });
    const clients = ["a", "a", "batch", "b", "batch"];
    await Promise.all(clients.map((client, at) => add(at, client, sound(amr))));
    expect(told).toEqual([0, 3, 1, 2, 4].map((key) => `decoded ${key}`));
    expect(most).toBe(1);
    for (const key of clients.keys()) queue.leave(key);
    expect(queue.busy).toBe(false);
  });

  test("are decoded as far as there is memory, which batches do not take from others", async () => {
    const { queue, add, told } = start(60, undefined, 40_000);
    for (let key = 0; key < 4; key++) void add(key, "batch", sound(amr));
    const settle = async (count: number) => {
      while (told.length < count) await Bun.sleep(1);
      await Bun.sleep(20);
      return told.splice(0);
    };
    expect(await settle(2)).toEqual(["decoded 0", "decoded 1"]);
    for (let key = 4; key < 8; key++) void add(key, "a", sound(amr));
    expect(await settle(2)).toEqual(["decoded 4", "decoded 5"]);
    void add(8, "b", sound(amr));
    expect(await settle(1)).toEqual(["decoded 8"]);
    for (const key of [0, 1, 4, 5]) queue.leave(key);
    expect(await settle(1)).toEqual(["decoded 6"]);
  });

  test("are decoded once for all answers to a request, even if another prompt comes in between", async () => {
    let decodings = 0;
    const { queue } = start(2.5, () => void decodings++);
    const [same, other] = [requestOf("a", sound(amr, "same")), requestOf("b", sound(amr))];
    const decoded = [];
    for (const [key, request] of [same, other, same, same].entries()) {
      decoded.push(await queue.decoded(key, request));
      queue.leave(key);
    }
    expect(decodings).toBe(2);
    expect(decoded[2]).toEqual(decoded[0]);
    const threeTimes = requestOf("a", ...Array.from({ length: 3 }, () => sound(amr, "same")));
    const refusal = await queue.decoded(4, threeTimes).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "invalid_value", details: { param: "sound 2" } });
  });

  test("are forgotten once others take much memory", async () => {
    let decodings = 0;
    const { queue } = start(60, () => void decodings++, 40_000);
    for (const [key, id] of ["a", "b", "b", "a"].entries()) {
      await queue.decoded(key, requestOf("a", sound(amr, id)));
      queue.leave(key);
    }
    expect(decodings).toBe(3);
  });

  test("of a prompt that left are dropped, even if that was while they were decoded", async () => {
    const { queue, add, told } = start(60, () => [1, 2].forEach((key) => queue.leave(key)));
    await Promise.all([add(1, "a", sound(amr)), add(2, "a", sound(ogg)), add(3, "a", sound(ogg))]);
    expect(told.toSorted()).toEqual(["decoded 3", "dropped 1", "dropped 2"]);
    queue.leave(3);
    expect(queue.busy).toBe(false);
  });

  test("are refused by their field when they are damaged, or too long together, and others follow", async () => {
    const { queue } = start(3);
    const refusal = (key: number, ...media: Media[]) =>
      queue.decoded(key, requestOf("a", image, ...media)).catch((error: unknown) => error);
    const [long, damaged] = await Promise.all([
      refusal(1, sound(ogg), sound(ogg), sound(ogg)),
      refusal(2, sound(ogg.subarray(0, 40))),
    ]);
    expect(long).toMatchObject({ code: "invalid_value", details: { param: "sound 2" } });
    expect(String(long)).toContain("longer than 3 seconds together");
    expect(damaged).toMatchObject({ code: "invalid_value", details: { param: "sound 1" } });
    expect(queue.busy).toBe(false);
  });
});
