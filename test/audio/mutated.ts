// Damages sound files.

import type { Dice } from "../support/dice.ts";

/** Returns a copy with some bytes changed, a piece removed, doubled or moved, or its end cut off. */
export function mutated(file: Uint8Array, roll: Dice): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(file);
  const extremes = [0, 1, 0x7f, 0x80, 0xff];
  // The first bytes matter most, so half of the damage is there.
  const place = () => roll(roll(2) === 0 ? Math.min(512, copy.length) : copy.length);
  for (let change = 0; change <= roll(8); change++) copy[place()] = extremes[roll(8)] ?? roll(256);
  const [from, length] = [place(), roll(400)];
  const kind = roll(6);
  if (kind === 0) return copy.subarray(0, from);
  if (kind === 1) return Buffer.concat([copy.subarray(0, from), copy.subarray(from + length)]);
  if (kind === 2) return Buffer.concat([copy.subarray(0, from + length), copy.subarray(from)]);
  if (kind === 3) copy.copyWithin(place(), from, from + length);
  return copy;
}
