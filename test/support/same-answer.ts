// Decides when two greedy answers to the same prompt count as the same. A batch of another shape may change the last
// bits of a logit, so two tokens of nearly equal score may swap; after that the texts differ legitimately.

export interface AnswerToken {
  readonly token: string;
  /** Log probabilities of the two best tokens in descending order. */
  readonly top: readonly number[];
}

export interface GreedyAnswer {
  readonly tokens: readonly AnswerToken[];
  /** False when the client disconnected or cancelled: then only the tokens received are compared. */
  readonly whole: boolean;
}

export type Likeness = "same" | "tie" | "different";

export interface Comparison {
  readonly likeness: Likeness;
  /** Index of the first token that differs. */
  readonly index?: number;
  /** The difference of the two best log probabilities at that token. */
  readonly margin?: number;
}

/** Largest difference of log probabilities at which two tokens count as equally good. */
const TIE = 0.02;

/** Compares an answer with the whole reference answer. "tie": they diverge where the two best tokens are equally good,
 * their log probabilities at most `tie` apart. */
export function compareAnswers(answer: GreedyAnswer, reference: GreedyAnswer, tie = TIE): Comparison {
  const length = answer.whole ? Math.max(answer.tokens.length, reference.tokens.length) : answer.tokens.length;
  for (let index = 0; index < length; index++) {
    const [ours, theirs] = [answer.tokens[index], reference.tokens[index]];
    if (ours?.token === theirs?.token) continue;
    // Where one answer has ended, the other answer's token tells the margin.
    const [best = NaN, second = NaN] = (theirs ?? ours)?.top ?? [];
    const margin = best - second;
    return { likeness: margin <= tie ? "tie" : "different", index, margin };
  }
  return { likeness: "same" };
}
