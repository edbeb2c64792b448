// Jobs that overlap, are given up at any moment, or find the cache too small.

import { describe, expect, test } from "bun:test";
import { MediaError, type Medium } from "../../ffi/media/api.ts";
import { HIDDEN } from "../models/make-vision-model.ts";
import {
  embeddingsOf,
  encode,
  encodedOf,
  image,
  isBuilt,
  mediaRig,
  prepare,
  sound,
  start,
  submit,
  submitFor,
  TILE_TOKENS,
  WAIT_MS,
} from "./media-harness.ts";

const rig = mediaRig();

describe.skipIf(!isBuilt)("a job", () => {
  /** Takes a good part of a second to encode. */
  const slowImage = (seed: number) => image(400, 400, seed);

  const prepareFor = (client: string, ...list: Medium[]) => {
    const job = submitFor(client, rig, ...list);
    expect(rig.media.wait(WAIT_MS)).toBe(job);
    return job;
  };

  test("is prepared while another is being encoded", async () => {
    await start(rig, "mrope");
    const slow = prepare(rig, slowImage(1));
    expect(rig.media.encode(slow)).toBe(true);
    const quick = prepare(rig, image());
    expect(rig.media.state(quick)).toBe("prepared");
    expect(rig.media.state(slow)).toBe("encoding");
  });

  test("can be released at any time, and leaves nothing behind", async () => {
    await start(rig, "mrope");
    const slow = prepare(rig, slowImage(1), slowImage(2));
    rig.media.encode(slow);
    rig.media.release(slow);
    expect(() => rig.media.chunks(slow)).toThrow(MediaError);
    expect(() => rig.media.encode(slow)).toThrow(MediaError);
    expect(rig.media.embeddings(slow, 1)).toBe(0n);
    rig.media.release(slow);
    for (let round = 0; round < 20; round++) {
      const jobs = [submit(rig, image(48, 32, round)), submit(rig, image(), sound(1)), submit(rig, slowImage(round))];
      if (round % 3 === 0) rig.media.wait(round % 2);
      for (const job of jobs) if (rig.media.state(job) === "prepared") rig.media.encode(job);
      if (round % 5 === 0) rig.media.wait(3);
      jobs.forEach((job) => rig.media.release(job));
    }
    // Released jobs are not told.
    const last = prepare(rig, image(48, 32, 99));
    encode(rig, last);
    const embeddings = embeddingsOf(rig, last);
    expect(embeddings.length).toBe(24 * HIDDEN);
    rig.media.release(last);
    expect((await settled()).jobs).toBe(0);
    rig.media.unload();
    expect(rig.media.stats()).toEqual({ jobs: 0, cachedBytes: 0 });
  });

  test("takes turns with others by client, a chunk at a time", async () => {
    await start(rig, "mrope");
    const many = (from: number) => Array.from({ length: 3 }, (_, index) => image(48, 32, from + index));
    const [large, more] = [prepareFor("a", image(96, 96), ...many(10)), prepareFor("a", ...many(20))];
    const small = ["b", "c"].map((client, index) => prepareFor(client, image(48, 32, 30 + index)));
    const all = [large, more, ...small];
    for (const job of all) rig.media.encode(job);
    const ended = all.map(() => rig.media.wait(WAIT_MS));
    expect(ended.slice(0, 2)).toEqual(small);
    expect(ended.slice(2).toSorted()).toEqual([large, more].toSorted());
    for (const job of all) expect(rig.media.state(job)).toBe("encoded");
  });

  test("takes no turn of its client when it is released", async () => {
    await start(rig, "mrope");
    const busy = prepareFor("a", slowImage(1));
    const released = [2, 3, 4].map((seed) => prepareFor("b", image(48, 32, seed)));
    const other = prepareFor("c", ...[5, 6, 7].map((seed) => image(48, 32, seed)));
    const wanted = prepareFor("b", image(48, 32, 8));
    for (const job of [busy, ...released, other, wanted]) rig.media.encode(job);
    for (const job of released) rig.media.release(job);
    // Their pixels are freed at once, not when their turns would have come.
    expect(rig.media.stats().jobs).toBe(3);
    expect([busy, wanted, other].map(() => rig.media.wait(WAIT_MS))).toEqual([busy, wanted, other]);
  });

  test("keeps its embeddings when the cache has no room for them", async () => {
    const chunkBytes = TILE_TOKENS * HIDDEN * 4;
    await start(rig, "tiles", { cacheBytes: 3 * chunkBytes });
    const job = prepare(rig, image());
    encode(rig, job);
    expect(rig.media.stats()).toEqual({ jobs: 1, cachedBytes: 3 * chunkBytes });
    expect(embeddingsOf(rig, job).every(Number.isFinite)).toBe(true);
    const again = prepare(rig, image());
    // Some of the parts are there, so the others are encoded from the image that came with this job.
    expect(encodedOf(rig, again).filter(Boolean).length).toBe(3);
    encode(rig, again);
    expect(embeddingsOf(rig, again)).toEqual(embeddingsOf(rig, job));
    rig.media.release(job);
    rig.media.release(again);
    expect(await settled()).toEqual({ jobs: 0, cachedBytes: 3 * chunkBytes });
  });

  test("does not keep a projector from being unloaded", async () => {
    await start(rig, "mrope");
    const jobs = [slowImage(1), slowImage(2), image()].map((medium) => prepare(rig, medium));
    jobs.forEach((job) => rig.media.encode(job));
    rig.media.unload();
    expect(rig.media.stats()).toEqual({ jobs: 0, cachedBytes: 0 });
    expect(rig.media.wait(0)).toBeUndefined();
    for (const job of jobs) expect(rig.media.state(job)).toMatchObject({ error: expect.stringContaining("no job") });
  });
});

/** Numbers after the work on released jobs has stopped. */
async function settled() {
  while (rig.media.stats().jobs > 0) await Bun.sleep(2);
  return rig.media.stats();
}
