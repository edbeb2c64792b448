// Guesses at the next tokens, to be checked in the same step: what followed when the last few tokens came before (prompt
// lookup decoding). Answers that repeat parts of their prompt or of themselves take fewer steps; the tokens are the
// same with and without, because each is still sampled. The longer what came before is, the likelier is the guess: what
// is not likely enough to pay for its rows is not tried.

import type { GuessCost } from "./cost.ts";
import { GuessExperience, GuessGate } from "./gate.ts";
import type { Sequence } from "../sequence.ts";

/** So many tokens must have come before; more than the longest make no difference. */
const SHORTEST = 3;
const LONGEST = 16;
const MOST = 16;

/** A place where the last tokens of a request came before: the last `matched` ones, up to `at`. */
interface Place {
  readonly at: number;
  readonly matched: number;
}

/** How guessing goes for one request. */
interface Looked {
  /** By the size of the match. */
  readonly gates: (GuessGate | undefined)[];
  /** Where the last search ended, and for which length: whoever asks twice in a step is not searched for twice. */
  length: number;
  place: Place | undefined;
}

export class PromptLookup {
  private readonly looked = new WeakMap<Sequence, Looked>();
  private readonly experience: GuessExperience[] = [];

  constructor(private readonly cost: GuessCost) {}

  /** What may follow in one of so many streams, at most `room` tokens; often nothing. */
  next(sequence: Sequence, streams: number, room: number): Int32Array {
    if (room < 1 || !this.cost.knows(streams)) return NONE;
    const { place, gates } = this.look(sequence);
    if (!place) return NONE;
    const right = this.gateOf(gates, place).expected;
    const { count } = this.cost.best({ right, streams, guessing: 1, most: Math.min(MOST, room), drafted: false });
    return count === 0 ? NONE : continuation(sequence, place.at, count);
  }

  /** Of what `next` gave last for this request, the first `right` were right. */
  learn(sequence: Sequence, offered: number, right: number): void {
    const looked = this.looked.get(sequence);
    if (looked?.place) this.gateOf(looked.gates, looked.place).learn(offered, right);
  }

  private look(sequence: Sequence): Looked {
    const { length } = sequence;
    const looked = this.looked.get(sequence) ?? { gates: [], length: -1, place: undefined };
    this.looked.set(sequence, looked);
    if (looked.length !== length) Object.assign(looked, { length, place: find(sequence) });
    return looked;
  }

  /** Matches of about the same length are alike. */
  private gateOf(gates: Looked["gates"], { matched }: Place): GuessGate {
    const size = Math.floor(Math.log2(matched));
    // Laplace's rule of succession: what went on as before so many times does so once more.
    const hope = (2 ** size + 1) / (2 ** size + 2);
    const experience = (this.experience[size] ??= new GuessExperience(hope));
    return (gates[size] ??= new GuessGate(experience));
  }
}

/** Of the places where the last few tokens were said before, the one with most of them; of equals, the last. */
function find({ ids, length }: Sequence): Place | undefined {
  const [first, second, third] = [ids[length - 3], ids[length - 2], ids[length - 1]];
  let best: Place | undefined;
  for (let at = length - 2; at >= SHORTEST - 1; at--) {
    if (ids[at] !== third || ids[at - 1] !== second || ids[at - 2] !== first) continue;
    let matched = SHORTEST;
    while (matched < LONGEST && matched <= at && ids[at - matched] === ids[length - 1 - matched]) matched++;
    if (matched > (best?.matched ?? 0)) best = { at, matched };
    if (matched === LONGEST) break;
  }
  return best;
}

/** What followed `at`; behind the end of what was said, the same again. Media are no tokens that could be guessed. */
function continuation({ ids, length }: Sequence, at: number, count: number): Int32Array {
  const said = length - 1 - at;
  const tokens = Int32Array.from({ length: count }, (_, index) => ids[at + 1 + (index % said)] as number);
  const media = tokens.findIndex((token) => token < 0);
  return media < 0 ? tokens : tokens.subarray(0, media);
}

const NONE = new Int32Array(0);
