// Guesses at the next tokens, to be checked in the same step: what followed when the last few tokens came before (prompt
// lookup decoding). Answers that repeat parts of their prompt or of themselves take fewer steps; the tokens are the
// same with and without, because each is still sampled. Guesses that are wrong cost rows, so they adapt.

import type { Sequence } from "./sequence.ts";

/** So many tokens must have come before. */
const CONTEXT = 3;
const FEWEST = 2;
const MOST = 16;
const FIRST = 4;
/** After wrong guesses there are none for a while: twice as long after each, up to this many tokens. */
const LONGEST_PAUSE = 64;

/** How guessing goes for one request. */
export class Guesses {
  private size = FIRST;
  private misses = 0;
  private pausedUntil = 0;
  /** Where the last search ended, and for which length: whoever asks twice in a step is not searched for twice. */
  private found = { length: -1, at: -1 };

  /** What may follow, at most `room` tokens; often nothing. */
  next(sequence: Sequence, room: number): Int32Array {
    const { ids, length } = sequence;
    if (room < FEWEST || length < this.pausedUntil || length <= CONTEXT) return NONE;
    if (this.found.length !== length) this.found = { length, at: find(sequence) };
    const { at } = this.found;
    return at < 0 ? NONE : ids.subarray(at + 1, Math.min(at + 1 + Math.min(this.size, room), length));
  }

  /** So many of the last guesses were right, and the request has so many tokens now. */
  learn(offered: number, right: number, length: number): void {
    if (right === offered) this.size = Math.min(this.size * 2, MOST);
    else this.size = Math.max(FEWEST, Math.min(this.size, right + 1));
    this.misses = right === 0 ? this.misses + 1 : 0;
    if (this.misses > 0) this.pausedUntil = length + Math.min(2 ** this.misses, LONGEST_PAUSE);
  }
}

/** Where the last tokens were said before, or -1. */
function find({ ids, length }: Sequence): number {
  const [first, second, third] = [ids[length - 3], ids[length - 2], ids[length - 1]];
  for (let at = length - 2; at >= CONTEXT - 1; at--) {
    if (ids[at] === third && ids[at - 1] === second && ids[at - 2] === first) return at;
  }
  return -1;
}

const NONE = new Int32Array(0);
