// Whether two answers are the same, token by token, apart from the last bits of sums.

import type { Answer, Token } from "./servers.ts";

/** Two best tokens closer than this may swap. */
const TIE = 0.02;
/** Allowed difference of log probabilities of the same token. */
const LOGPROB_TOLERANCE = 1e-2;

export type Comparison =
  | { readonly verdict: "same"; readonly logprobGap: number }
  | { readonly verdict: "tie" | "different"; readonly logprobGap: number; readonly where: string };

/** Compares answers to the same prompt. */
export function compare(ours: Answer, theirs: Answer): Comparison {
  const at = firstDifference(ours.tokens, theirs.tokens);
  const logprobGap = largestGap(ours.tokens.slice(0, at), theirs.tokens);
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

/**
 * Returns the index of svc's first token that differs in text, or undefined when there is none or when one of the
 * servers gave no tokens, so that only the text can be compared. Bytes are compared rather than tokens: llama-server
 * joins the token of an incomplete character with the next one.
 */
function firstDifference(ours: readonly Token[], theirs: readonly Token[]): number | undefined {
  if (ours.length === 0 || theirs.length === 0) return undefined;
  const [said, other] = [ours, theirs].map((tokens) => tokens.map(({ text }) => text).join(""));
  if (said === other) return undefined;
  let from = 0;
  const parting = ours.findIndex(({ text }) => {
    const same = other?.startsWith(text, from) ?? false;
    from += text.length;
    return !same;
  });
  return parting < 0 ? ours.length : parting;
}

function isTie(token: Token | undefined): boolean {
  const [first, second] = token?.top ?? [];
  return first !== undefined && second !== undefined && first.logprob - second.logprob <= TIE;
}

/** Returns the largest difference over tokens that both servers report separately, and their alternatives. */
function largestGap(ours: readonly Token[], theirs: readonly Token[]): number {
  const others = new Map(withOffsets(theirs));
  let gap = 0;
  for (const [offset, token] of withOffsets(ours)) {
    const other = others.get(offset);
    if (other?.text !== token.text) continue;
    gap = Math.max(gap, Math.abs(token.logprob - other.logprob));
    // By rank, because all control tokens have the same empty text.
    for (const [rank, { logprob }] of token.top.entries()) {
      gap = Math.max(gap, Math.abs(logprob - (other.top[rank]?.logprob ?? logprob)));
    }
  }
  return gap;
}

/** Returns each token with the number of bytes before it. */
function withOffsets(tokens: readonly Token[]): [number, Token][] {
  let offset = 0;
  return tokens.map((token) => {
    const before = offset;
    offset += token.text.length;
    return [before, token];
  });
}
