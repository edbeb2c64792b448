// Changes to the bytes of a text or a file: truncation, other bytes, pieces moved or repeated.

import { pick, type Dice } from "../support/dice.ts";

/** Values at which counts and lengths often go wrong. */
const NUMBERS = [0, 1, 0x7f, 0x80, 0xff] as const;
/** Bytes at the start of a file, where headers are. */
const FRONT = 64;

/**
 * Returns a damaged copy, never longer than twice the input. `words`: the words of the format, to be inserted where
 * they are not expected.
 */
export function damaged(bytes: Uint8Array, roll: Dice, words: readonly string[] = []): Uint8Array<ArrayBuffer> {
  let copy = Buffer.from(bytes);
  for (let changes = pick(roll, [1, 1, 1, 2, 4]); changes > 0 && copy.length > 0; changes--)
    copy = once(copy, roll, words);
  return copy.subarray(0, bytes.length * 2);
}

function once(bytes: Buffer<ArrayBuffer>, roll: Dice, words: readonly string[]): Buffer<ArrayBuffer> {
  const at = roll(roll(2) === 0 ? Math.min(FRONT, bytes.length) : bytes.length);
  const length = 1 + roll(Math.min(bytes.length - at, roll(4) === 0 ? bytes.length : 16));
  const [before, piece, behind] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at + length)];
  const [word] = words.length > 0 ? [words[roll(words.length)] ?? ""] : [];
  switch (roll(word === undefined ? 6 : 9)) {
    case 0:
      return before;
    case 1:
      return Buffer.concat([
        before,
        Uint8Array.of(piece[0] ? piece[0] ^ (1 << roll(8)) : 1 << roll(8)),
        bytes.subarray(at + 1),
      ]);
    case 2:
      return Buffer.concat([before, new Uint8Array(piece.length).fill(pick(roll, NUMBERS)), behind]);
    case 3:
      return Buffer.concat([before, behind]);
    case 4:
      return Buffer.concat([before, piece, piece, behind]);
    case 5:
      bytes.copyWithin(at, roll(bytes.length), roll(bytes.length));
      return bytes;
    default:
      return Buffer.concat([before, Buffer.from(word ?? ""), bytes.subarray(at)]);
  }
}
