import { describe, expect, test } from "bun:test";
import { KeptImages } from "../../src/store/kept-images.ts";
import { TestClock } from "../support/test-clock.ts";

const bytes = (count: number) => new Uint8Array(count);

describe("kept images", () => {
  test("exist until their time is over, and then free their memory", () => {
    const clock = new TestClock();
    const kept = new KeptImages(clock, { bytes: 1000, ms: 60_000 });
    const first = kept.put(bytes(10), "png");
    clock.pass(30_000);
    const second = kept.put(bytes(20), "webp");
    expect([kept.get(first)?.format, kept.get(second)?.format]).toEqual(["png", "webp"]);
    clock.pass(30_000);
    expect([kept.get(first), kept.get(second)?.format]).toEqual([undefined, "webp"]);
    clock.pass(30_000);
    expect(kept.get(second)).toBeUndefined();
    // Their memory is free again.
    const next = [990, 10].map((count) => kept.put(bytes(count), "png"));
    expect(next.map((id) => kept.get(id) !== undefined)).toEqual([true, true]);
    kept.close();
  });

  test("are removed oldest first when there are too many bytes", () => {
    const kept = new KeptImages(new TestClock(), { bytes: 100, ms: 60_000 });
    const ids = [40, 40, 40].map((count) => kept.put(bytes(count), "png"));
    ids.push(kept.put(bytes(20), "png"));
    expect(ids.map((id) => kept.get(id) !== undefined)).toEqual([false, true, true, true]);
    kept.close();
    expect(kept.get(ids.at(-1) ?? "")).toBeUndefined();
  });

  test("have ids that cannot be guessed", () => {
    const kept = new KeptImages(new TestClock());
    const ids = new Set(Array.from({ length: 100 }, () => kept.put(bytes(1), "png")));
    expect(ids.size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^img_[0-9a-f]{32}$/);
    kept.close();
  });
});
