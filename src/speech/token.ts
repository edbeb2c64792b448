// A piece of text on its way to phonemes.

export interface Token {
  readonly text: string;
  /** Part of speech. */
  readonly tag: string;
  /** Whether white space follows. */
  spaceAfter: boolean;
  /** Undefined: not known yet. Empty: not spoken. */
  phonemes?: string;
  /** What is looked up instead of the text. */
  alias?: string;
  /** Of an amount: the sign of its currency. */
  currency?: string;
  /** Whether a word begins here: only there a hyphen can be a minus. */
  isHead: boolean;
  /** Whether a pause of a space is spoken before it, inside a word. */
  spaceBefore: boolean;
}

/** The pieces of a word as one token, without phonemes. */
export function merge(tokens: readonly Token[]): Token {
  const [first, last] = [tokens[0], tokens.at(-1)];
  if (first === undefined || last === undefined) throw new Error("a word has at least one piece");
  const currency = tokens
    .flatMap((token) => token.currency ?? [])
    .sort()
    .at(-1);
  return {
    text: tokens.map(({ text }) => text).join(""),
    tag: tokens.reduce((most, token) => (importance(token.text) > importance(most.text) ? token : most)).tag,
    spaceAfter: last.spaceAfter,
    ...(currency !== undefined && { currency }),
    isHead: first.isHead,
    spaceBefore: first.spaceBefore,
  };
}

/** The phonemes of the pieces of a word, one after another. */
export function joined(tokens: readonly Token[]): string {
  let phonemes = "";
  for (const { spaceBefore, phonemes: own = "" } of tokens) {
    phonemes += spaceBefore && own !== "" && phonemes !== "" && !phonemes.endsWith(" ") ? ` ${own}` : own;
  }
  return phonemes;
}

/** Long pieces, and capital letters, say most about what kind of word it is. */
function importance(text: string): number {
  return Array.from(text).reduce((sum, character) => sum + (character === character.toLowerCase() ? 1 : 2), 0);
}
