// Splits the log probabilities of a long message, which may hold a whole answer with twenty alternatives to each token.

import { fields, objects, type Fields } from "./fields.ts";

/** Tokens of a part: a fraction of a millisecond of work. */
const TOKENS_IN_PART = 256;

interface SplitMessage {
  /** The message without its log probabilities. */
  readonly others: Fields;
  /** Messages that have only log probabilities, a few each. */
  readonly parts: Iterable<Fields>;
}

/** Splits a message of an OpenAI-compatible server or of Ollama. */
export function splitLogprobs(message: unknown): SplitMessage {
  const { logprobs: ofLine, ...others } = fields(message);
  const [choice] = objects(others["choices"]);
  const { logprobs: ofChoice, ...rest } = choice ?? {};
  return {
    others: choice ? { ...others, choices: [rest] } : others,
    parts: partsOf(ofLine, fields(ofChoice)),
  };
}

function* partsOf(ofLine: unknown, ofChoice: Fields): Generator<Fields, void, void> {
  const lists = [ofLine, ...Object.values(ofChoice)].filter((list) => Array.isArray(list));
  const tokens = lists.reduce((longest, { length }) => Math.max(longest, length), 0);
  for (let from = 0; from < tokens; from += TOKENS_IN_PART) {
    const few = (list: unknown) => (Array.isArray(list) ? list.slice(from, from + TOKENS_IN_PART) : undefined);
    const lists = Object.entries(ofChoice).map(([name, list]) => [name, few(list)] as const);
    yield { logprobs: few(ofLine), choices: [{ logprobs: Object.fromEntries(lists) }] };
  }
}
