// Limits of the pictures that are accepted.

import { Refusal } from "../../../media/refusal.ts";

/** Pixels. */
export const LONGEST_SIDE = 4096;

/** Throws Refusal of a picture that is too large, before it is decoded. */
export function checkSides(width: number, height: number): void {
  if (Math.max(width, height) <= LONGEST_SIDE) return;
  throw new Refusal(`be at most ${LONGEST_SIDE} pixels a side`, `${width} × ${height} pixels`);
}

/** Returns the refusal of a file, or a page of it, that cannot be read: `got` says why. */
export const unreadable = (got: string): Refusal => new Refusal("be a file that can be read", got);
