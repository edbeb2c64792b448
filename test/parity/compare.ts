// Whether two answers are the same, token by token, within what the last bits of a sum may change.

import type { Answer, Token } from "./servers.ts";

/** Two most probable tokens closer than this may change places. */
const TIE = 0.02;
/** Log probabilities of the same token may differ by this. */
const LOGPROB_TOLERANCE = 1e-2;

export type Comparison =
  | { readonly verdict: "same"; readonly logprobGap: number }
  | { readonly verdict: "tie" | "different"; readonly logprobGap: number; readonly where: string };

/** `ours` and `theirs` begin with the same prompt. */
export function compare(ours: Answer, theirs: Answer): Comparison {
  const at = firstDifference(ours.tokens, theirs.tokens);
  const common = at ?? Math.min(ours.tokens.length, theirs.tokens.length);
  const logprobGap = largestGap(ours.tokens.slice(0, common), theirs.tokens.slice(0, common));
  const different = (where: string) => ({ verdict: "different" as const, logprobGap, where });
  if (ours.promptTokens !== theirs.promptTokens) {
    return different(`prompts of ${ours.promptTokens} and ${theirs.promptTokens} tokens`);
  }
  if (at !== undefined) {
    const where = `token ${at}: ${show(ours.tokens[at])} and ${show(theirs.tokens[at])}`;
    return isTie(ours.tokens[at]) ? { verdict: "tie", logprobGap, where } : different(where);
  }
  if (ours.said !== theirs.said) return different(`${ours.said.slice(0, 120)} and ${theirs.said.slice(0, 120)}`);
  if (ours.finish !== theirs.finish) return different(`finish ${ours.finish} and ${theirs.finish}`);
  if (ours.completionTokens !== theirs.completionTokens) {
    return different(`${ours.completionTokens} and ${theirs.completionTokens} tokens counted`);
  }
  if (logprobGap > LOGPROB_TOLERANCE) return different(`log probabilities ${logprobGap.toFixed(4)} apart`);
  return { verdict: "same", logprobGap };
}

const show = (token: Token | undefined) => (token ? JSON.stringify(token.text) : "the end");

/** Where the lists of tokens part; undefined when one of the servers gave none, so that only the text can be compared. */
function firstDifference(ours: readonly Token[], theirs: readonly Token[]): number | undefined {
  if (ours.length === 0 || theirs.length === 0) return undefined;
  const length = Math.max(ours.length, theirs.length);
  for (let index = 0; index < length; index++) if (ours[index]?.text !== theirs[index]?.text) return index;
  return undefined;
}

function isTie(token: Token | undefined): boolean {
  const [first, second] = token?.top ?? [];
  return first !== undefined && second !== undefined && first.logprob - second.logprob <= TIE;
}

/** Over chosen tokens and their alternatives. */
function largestGap(ours: readonly Token[], theirs: readonly Token[]): number {
  let gap = 0;
  for (const [index, token] of ours.entries()) {
    const other = theirs[index];
    if (!other) continue;
    gap = Math.max(gap, Math.abs(token.logprob - other.logprob));
    // By rank, as all control tokens have the same empty text.
    for (const [rank, { logprob }] of token.top.entries()) {
      gap = Math.max(gap, Math.abs(logprob - (other.top[rank]?.logprob ?? logprob)));
    }
  }
  return gap;
}
