// Limits of the pictures that are accepted.

import { fieldError, type SvcError } from "../../../domain/errors.ts";

/** Pixels. */
export const LONGEST_SIDE = 4096;

/** Throws SvcError about a picture that is too large, before it is decoded. */
export function checkSides(width: number, height: number, field: string): void {
  if (Math.max(width, height) <= LONGEST_SIDE) return;
  const sentence = `must be at most ${LONGEST_SIDE} pixels a side; got ${width} × ${height} pixels`;
  throw fieldError("unprocessable_media", field, sentence);
}

/** Returns the error about a file, or a page of it, that cannot be read: `got` says why. */
export const unreadable = (field: string, got: string): SvcError =>
  fieldError("unprocessable_media", field, `must be a file that can be read; got ${got}`);
