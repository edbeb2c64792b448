// Prompt lookup decoding: when the last few tokens of a request occurred before, the tokens that followed them become
// its speculative tokens. Answers that repeat parts of their prompt or of themselves then take fewer steps. The longer
// the match, the likelier the tokens are accepted; they are tried only if that is worth the cost of their rows.

import type { Sequence } from "../sequence.ts";
import type { SpeculationCost } from "./cost.ts";
import { AcceptanceRate, SpeculationGate } from "./gate.ts";

/** Minimum tokens of a match, and maximum tokens compared. */
const SHORTEST = 3;
const LONGEST = 16;
/** Maximum number of speculative tokens for a request in a step. */
const MOST = 16;

/** A place where the last `matched` tokens of a request occurred before; `at`: the index of the last of them there. */
interface Match {
  readonly at: number;
  readonly matched: number;
}

/** The state of one request. */
interface Lookup {
  /** By the logarithm of the match's length. */
  readonly gates: (SpeculationGate | undefined)[];
  /** The request's length when `match` was searched: a second call in the same step does not search again. */
  length: number;
  match: Match | undefined;
}

export class PromptLookup {
  private readonly lookups = new WeakMap<Sequence, Lookup>();
  /** By the logarithm of the match's length. */
  private readonly acceptance: AcceptanceRate[] = [];

  constructor(private readonly cost: SpeculationCost) {}

  /** Returns speculative tokens for one of `streams` streams, at most `limit`; often none. */
  next(sequence: Sequence, streams: number, limit: number): Int32Array {
    if (limit < 1 || !this.cost.knows(streams)) return NONE;
    const { match, gates } = this.lookUp(sequence);
    if (!match) return NONE;
    const { acceptance } = this.gateOf(gates, match);
    const most = Math.min(MOST, limit);
    const { count } = this.cost.best({ acceptance, streams, speculating: 1, most, usesDraftModel: false });
    return count === 0 ? NONE : continuation(sequence, match.at, count);
  }

  /** Records that the first `accepted` of the tokens that `next` last returned for this request were accepted. */
  record(sequence: Sequence, drafted: number, accepted: number): void {
    const lookup = this.lookups.get(sequence);
    if (lookup?.match) this.gateOf(lookup.gates, lookup.match).record(drafted, accepted);
  }

  private lookUp(sequence: Sequence): Lookup {
    const { length } = sequence;
    const lookup = this.lookups.get(sequence) ?? { gates: [], length: -1, match: undefined };
    this.lookups.set(sequence, lookup);
    if (lookup.length !== length) Object.assign(lookup, { length, match: find(sequence) });
    return lookup;
  }

  /** Returns the gate that matches of about this length share. */
  private gateOf(gates: Lookup["gates"], { matched }: Match): SpeculationGate {
    const size = Math.floor(Math.log2(matched));
    // Laplace's rule of succession: 2 ** size tokens in a row matched, so the next one probably matches too.
    const initial = (2 ** size + 1) / (2 ** size + 2);
    const overall = (this.acceptance[size] ??= new AcceptanceRate(initial));
    return (gates[size] ??= new SpeculationGate(overall));
  }
}

/** Returns the longest match of a request's last tokens; of equally long ones, the last. */
function find({ ids, length }: Sequence): Match | undefined {
  const [first, second, third] = [ids[length - 3], ids[length - 2], ids[length - 1]];
  let best: Match | undefined;
  for (let at = length - 2; at >= SHORTEST - 1; at--) {
    if (ids[at] !== third || ids[at - 1] !== second || ids[at - 2] !== first) continue;
    let matched = SHORTEST;
    while (matched < LONGEST && matched <= at && ids[at - matched] === ids[length - 1 - matched]) matched++;
    if (matched > (best?.matched ?? 0)) best = { at, matched };
    if (matched === LONGEST) break;
  }
  return best;
}

/**
 * Returns the tokens after `at`, starting over from there when the request ends. Stops before the first medium, whose
 * tokens cannot be sampled.
 */
function continuation({ ids, length }: Sequence, at: number, count: number): Int32Array {
  const known = length - 1 - at;
  const tokens = Int32Array.from({ length: count }, (_, index) => ids[at + 1 + (index % known)] as number);
  const media = tokens.findIndex((token) => token < 0);
  return media < 0 ? tokens : tokens.subarray(0, media);
}

const NONE = new Int32Array(0);
