// Counts of speculative tokens by their source: kept by the scheduler, exported as metrics.

/** `ngram`: prompt lookup, tokens that followed the same tokens before. `draft`: a small draft model. */
export const SPECULATION_SOURCES = ["ngram", "draft"] as const;
export type SpeculationSource = (typeof SPECULATION_SOURCES)[number];

interface DraftCounts {
  /** Drafts: runs of speculative tokens. */
  drafts: number;
  /** Tokens in them. */
  tokens: number;
  /** Accepted tokens by their place in the draft. */
  readonly accepted: number[];
}

export type SpeculationCounts = Readonly<Record<SpeculationSource, DraftCounts>>;

export function noSpeculation(): SpeculationCounts {
  const none = (): DraftCounts => ({ drafts: 0, tokens: 0, accepted: [] });
  return { ngram: none(), draft: none() };
}

/** Counts a draft of `tokens` tokens, of which the first `accepted` were accepted. */
export function countDraft(
  counts: SpeculationCounts,
  source: SpeculationSource,
  tokens: number,
  accepted: number,
): void {
  const into = counts[source];
  into.drafts++;
  into.tokens += tokens;
  for (let place = 0; place < accepted; place++) into.accepted[place] = (into.accepted[place] ?? 0) + 1;
}

/** Adds `more` to `counts`, or with `sign` -1 subtracts it. */
export function addSpeculation(counts: SpeculationCounts, more: SpeculationCounts, sign: 1 | -1 = 1): void {
  for (const source of SPECULATION_SOURCES) {
    const [into, from] = [counts[source], more[source]];
    into.drafts += sign * from.drafts;
    into.tokens += sign * from.tokens;
    from.accepted.forEach((count, place) => (into.accepted[place] = (into.accepted[place] ?? 0) + sign * count));
  }
}

/** Returns the accepted tokens at all places together. */
export const acceptedTokens = ({ accepted }: DraftCounts): number => accepted.reduce((sum, count) => sum + count, 0);
