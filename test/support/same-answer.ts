// When two greedy answers to the same prompt are the same: batches of another shape may move a logit in its last bits, so
// two tokens that are as good as equal may change places; after that the texts go their own ways.

export interface AnswerToken {
  readonly token: string;
  /** Log probabilities of the two best tokens, best first. */
  readonly top: readonly number[];
}

export interface GreedyAnswer {
  readonly tokens: readonly AnswerToken[];
  /** False when its client left or cancelled: then only what came before counts. */
  readonly whole: boolean;
}

export type Likeness = "same" | "tie" | "different";

export interface Comparison {
  readonly likeness: Likeness;
  /** Number of the first token that differs. */
  readonly index?: number;
  /** By how much the best token was better than the second there. */
  readonly margin?: number;
}

/** Logits this close may change places. */
const TIE = 0.02;

/** Compares an answer with the whole reference answer; "tie": they part where the two best tokens are equally good,
 * their log probabilities at most `tie` apart. */
export function compareAnswers(answer: GreedyAnswer, reference: GreedyAnswer, tie = TIE): Comparison {
  const length = answer.whole ? Math.max(answer.tokens.length, reference.tokens.length) : answer.tokens.length;
  for (let index = 0; index < length; index++) {
    const [ours, theirs] = [answer.tokens[index], reference.tokens[index]];
    if (ours?.token === theirs?.token) continue;
    // Where one of them ended its turn, the other knows how close that was.
    const [best = NaN, second = NaN] = (theirs ?? ours)?.top ?? [];
    const margin = best - second;
    return { likeness: margin <= tie ? "tie" : "different", index, margin };
  }
  return { likeness: "same" };
}
