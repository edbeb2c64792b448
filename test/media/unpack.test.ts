import { expect, test } from "bun:test";
import { unpackBits, unpackLzw } from "../../src/media/unpack.ts";
import { dice } from "../support/dice.ts";

/** Encodes codes of 9 bits each, highest bit first. */
function codes(...list: readonly number[]): Uint8Array {
  const bits = list.map((code) => code.toString(2).padStart(9, "0")).join("");
  const bytes = bits.padEnd(Math.ceil(bits.length / 8) * 8, "0").match(/.{8}/g) ?? [];
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2));
}

test("LZW: literals, strings, and the string that is being defined are unpacked", () => {
  // a b ab aba (258 is ab, 259 is ba, 260 is aba)
  expect([...unpackLzw(codes(256, 97, 98, 258, 260, 257), 100)]).toEqual([...Buffer.from("abababa")]);
  expect([...unpackLzw(codes(256, 7, 258, 259, 257), 100)]).toEqual([7, 7, 7, 7, 7, 7]);
  // A clear code starts a new table.
  expect([...unpackLzw(codes(256, 97, 256, 98, 258, 257), 100)]).toEqual([...Buffer.from("abbb")]);
});

test("LZW ends at the end of its input, at damage, or at the requested length", () => {
  expect([...unpackLzw(codes(256, 97, 98), 100)]).toEqual([...Buffer.from("ab")]);
  expect([...unpackLzw(codes(256, 97, 300, 98), 100)]).toEqual([...Buffer.from("a")]);
  expect([...unpackLzw(codes(256, 7, 258, 259, 260), 4)]).toEqual([7, 7, 7, 7]);
  expect(unpackLzw(new Uint8Array(0), 100)).toHaveLength(0);
});

test("PackBits: literals, runs and empty input are unpacked", () => {
  expect([...unpackBits(Uint8Array.of(2, 1, 2, 3, 0xfe, 9, 0x80, 0, 4), 100)]).toEqual([1, 2, 3, 9, 9, 9, 4]);
  expect([...unpackBits(Uint8Array.of(2, 1), 100)]).toEqual([1]);
  expect([...unpackBits(Uint8Array.of(0x81, 9), 5)]).toEqual([9, 9, 9, 9, 9]);
});

test("whatever the input, the output never exceeds the requested length", () => {
  const roll = dice(5);
  for (let round = 0; round < 300; round++) {
    const packed = Uint8Array.from({ length: roll(200) }, () => roll(256));
    const length = roll(500);
    for (const unpack of [unpackLzw, unpackBits]) expect(unpack(packed, length).length).toBeLessThanOrEqual(length);
  }
});
