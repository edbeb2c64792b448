// Counts of tokens that were guessed ahead, by who guessed them: kept by the scheduler, told as metrics.

/** `ngram`: what followed the same tokens before. `draft`: what a small model beside the large one expects. */
export const GUESS_SOURCES = ["ngram", "draft"] as const;
export type GuessSource = (typeof GUESS_SOURCES)[number];

export interface GuessCounts {
  /** Series of guesses. */
  drafts: number;
  /** Guessed tokens in them. */
  tokens: number;
  /** Of them, those that were right, by their place in the series. */
  readonly accepted: number[];
}

export type GuessTally = Readonly<Record<GuessSource, GuessCounts>>;

export function noGuesses(): GuessTally {
  const none = (): GuessCounts => ({ drafts: 0, tokens: 0, accepted: [] });
  return { ngram: none(), draft: none() };
}

/** Counts a series of guesses of which the first `right` were right. */
export function countGuesses(tally: GuessTally, source: GuessSource, offered: number, right: number): void {
  const counts = tally[source];
  counts.drafts++;
  counts.tokens += offered;
  for (let place = 0; place < right; place++) counts.accepted[place] = (counts.accepted[place] ?? 0) + 1;
}

/** Adds `more` to `tally`, or with `sign` -1 takes it away. */
export function addGuesses(tally: GuessTally, more: GuessTally, sign: 1 | -1 = 1): void {
  for (const source of GUESS_SOURCES) {
    const [into, from] = [tally[source], more[source]];
    into.drafts += sign * from.drafts;
    into.tokens += sign * from.tokens;
    from.accepted.forEach((count, place) => (into.accepted[place] = (into.accepted[place] ?? 0) + sign * count));
  }
}

/** Guessed tokens that were right, in all. */
export const rightOf = ({ accepted }: GuessCounts): number => accepted.reduce((sum, count) => sum + count, 0);
