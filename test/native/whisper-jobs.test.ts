// Jobs of speech to text that overlap, or are given up at any moment.

import { describe, expect, test } from "bun:test";
import { WhisperError } from "../../ffi/whisper/api.ts";
import { finish, hear, isBuilt, jfk, load, seconds, whisperRig } from "./whisper-harness.ts";

const rig = whisperRig();
/** Its first and its last words, to be quick. */
const clips = [jfk.subarray(0, seconds(3.5)), jfk.subarray(seconds(7.5))] as const;
const QUICK = { language: "en", audioContext: 250, beams: 1 };
/** More than a minute to work on. */
const endless = new Float32Array(seconds(150)).map((_, index) => jfk[index % jfk.length] ?? 0);

describe.skipIf(!isBuilt)("a job", () => {
  test("hears beside another what it hears alone, also after those that guessed", async () => {
    await load(rig, { workers: 2 });
    const guessing = { ...QUICK, temperature: 0.8 };
    const alone = clips.map((clip) => [hear(rig, clip, QUICK), hear(rig, clip, guessing)]).flat();
    const jobs = clips.flatMap((clip) => [rig.whisper.submit(clip, QUICK), rig.whisper.submit(clip, guessing)]);
    expect(finish(rig, ...jobs)).toEqual(alone);
    expect(alone[0]?.text).toContain("fellow Americans");
    expect(alone[2]?.text).toContain("you can do for your country");
  });

  test("knows nothing of the sound that its worker heard before", async () => {
    await load(rig);
    const fresh = hear(rig, clips[0], QUICK);
    const detected = hear(rig, clips[0], { audioContext: QUICK.audioContext, beams: 1 });
    hear(rig, clips[1], { language: "en", beams: 1, audioContext: 2 * QUICK.audioContext });
    expect(hear(rig, clips[0], QUICK)).toEqual(fresh);
    expect(hear(rig, clips[0], { audioContext: QUICK.audioContext, beams: 1 })).toEqual(detected);
  });

  test("takes no memory for others that might be worked on beside it", async () => {
    const used = async (workers: number) => {
      await load(rig, { workers });
      for (const clip of clips) hear(rig, clip, { ...QUICK, beams: 1 });
      const { rss } = process.memoryUsage();
      rig.whisper.unload();
      return rss;
    };
    const alone = await used(1);
    expect((await used(8)) - alone).toBeLessThan(100e6);
  });

  test("is stopped when it is released, and leaves its worker to the next one", async () => {
    await load(rig);
    const job = rig.whisper.submit(endless, { language: "en" });
    while (rig.whisper.state(job) === "queued") await Bun.sleep(5);
    const next = rig.whisper.submit(clips[0], QUICK);
    const dropped = rig.whisper.submit(endless);
    rig.whisper.drainLog();
    // In the middle of the first half minute.
    await Bun.sleep(300);
    rig.whisper.release(dropped);
    rig.whisper.release(job);
    rig.whisper.release(job);
    expect(() => rig.whisper.segments(job, 0)).toThrow(WhisperError);
    const told: unknown[] = [];
    // A second may pass in which nothing is told, where others want the machine as well.
    while (rig.whisper.state(next) !== "done") told.push(rig.whisper.wait(1000) ?? next);
    expect(new Set(told)).toEqual(new Set([next]));
    expect(finish(rig, next)[0]?.text).toContain("fellow Americans");
    // It was on purpose, so nobody needs to read about it.
    expect(rig.whisper.drainLog().filter(({ level }) => level !== "info")).toEqual([]);
  });

  test("tells its segments as they become known", async () => {
    await load(rig);
    const job = rig.whisper.submit(endless, { language: "en", audioContext: 750, beams: 1 });
    expect(rig.whisper.wait(20_000)).toBe(job);
    expect(rig.whisper.state(job)).toBe("running");
    const first = rig.whisper.segments(job, 0);
    expect(first.map(({ text }) => text).join("")).toContain("fellow Americans");
    expect(rig.whisper.segments(job, first.length)).toEqual([]);
    // Unloading waits for nothing but the worker.
    rig.whisper.unload();
    expect(rig.whisper.state(job)).toMatchObject({ code: "failed" });
  });
});
