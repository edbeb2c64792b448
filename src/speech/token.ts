// A piece of text that is being converted to phonemes.

export interface Token {
  readonly text: string;
  /** Part of speech. */
  readonly tag: string;
  /** Whether white space follows. */
  spaceAfter: boolean;
  /** Undefined: not known yet. Empty: not spoken. */
  phonemes?: string;
  /** The word to look up in place of the text. */
  alias?: string;
  /** The currency sign of an amount. */
  currency?: string;
  /** Whether a word begins here: only then a hyphen can be a minus. */
  isHead: boolean;
  /** Whether a space, as a short pause, is spoken before the piece, inside a word. */
  spaceBefore: boolean;
}

/** Merges the pieces of a word into one token without phonemes. */
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

/** Concatenates the phonemes of a word's pieces. */
export function joined(tokens: readonly Token[]): string {
  let phonemes = "";
  for (const { spaceBefore, phonemes: own = "" } of tokens) {
    phonemes += spaceBefore && own !== "" && phonemes !== "" && !phonemes.endsWith(" ") ? ` ${own}` : own;
  }
  return phonemes;
}

/** Rates how much a piece says about the kind of the word: long pieces and capital letters say most. */
function importance(text: string): number {
  return Array.from(text).reduce((sum, character) => sum + (character === character.toLowerCase() ? 1 : 2), 0);
}
