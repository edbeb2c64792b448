import { expect, test } from "bun:test";
import { SoundBuffer } from "../../../src/service/live/sound-buffer.ts";
import { dice } from "../../support/dice.ts";

test("stored sound is found by its position, in whatever pieces it was added and dropped", () => {
  const roll = dice(3);
  const buffer = new SoundBuffer();
  const all: number[] = [];
  let dropped = 0;
  for (let turn = 0; turn < 2000; turn++) {
    const bytes = Uint8Array.from({ length: roll(turn % 100 === 0 ? 50_000 : 300) }, () => roll(256));
    all.push(...bytes);
    buffer.append(bytes);
    expect(buffer.end).toBe(all.length);
    if (roll(3) === 0) {
      dropped = Math.max(dropped, all.length - roll(2000));
      buffer.dropBefore(dropped);
    }
    const from = dropped + roll(all.length - dropped + 1);
    const to = from + roll(all.length - from + 1);
    expect(Array.from(buffer.slice(from, to))).toEqual(all.slice(from, to));
  }
  buffer.dropBefore(all.length + 1000);
  expect([buffer.end, buffer.slice(0, all.length).length]).toEqual([all.length, 0]);
});

test("a copy does not change when the buffer does", () => {
  const buffer = new SoundBuffer();
  buffer.append(Uint8Array.of(1, 2, 3));
  const copy = buffer.slice(0, 3);
  buffer.dropBefore(2);
  buffer.append(new Uint8Array(100).fill(9));
  expect([...copy]).toEqual([1, 2, 3]);
});
