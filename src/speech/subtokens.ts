// Splits tokens at case changes, digits, hyphens and apostrophes ("iPhone", "B52", "well-known"), and groups pieces
// without spaces between them into words.

import { LETTER, LOWER, UPPER, WORD } from "./characters.ts";
import { isCurrency } from "./spoken-numbers.ts";
import type { Token } from "./token.ts";

const PIECE = new RegExp(
  String.raw`^['‘’]+|[${UPPER}](?=[${UPPER}][${LOWER}])|(?:^-)?(?:\p{Nd}?[,.]?\p{Nd})+|[\-_]+|['‘’]{2,}` +
    `|[${LETTER}]*?(?:['‘’][${LETTER}])*?[${LOWER}](?=[${UPPER}])|[${LETTER}]+(?:['‘’][${LETTER}])*` +
    String.raw`|[^${WORD}\-'‘’]|['‘’]+$`,
  "gu",
);
const MARKS = new Set(';:,.!?—…"“”');
const JUNK = /^[',\-._‘’/]*$/;
const MARK_TAGS = new Set([".", ",", "-LRB-", "-RRB-", "``", '""', "''", ":", "$", "#", "NFP"]);
const QUOTES: Readonly<Record<string, string>> = { "-LRB-": "(", "-RRB-": ")", "``": "“", '""': "”", "''": "”" };

/** Returns whether a piece consists only of marks inside a word. */
export const isJunk = (text: string): boolean => JUNK.test(text);

/** Returns the words of a sentence, each of one or more pieces. Marks and currency signs are words with phonemes. */
export function splitWords(tokens: readonly Token[]): Token[][] {
  const words: Token[][] = [];
  let currency: string | undefined;
  let isOpen = false;
  for (const [index, token] of tokens.entries()) {
    const pieces = (token.text.match(PIECE) ?? [token.text]).map((text): Token => ({
      ...token,
      text,
      spaceAfter: false,
    }));
    for (const [at, piece] of pieces.entries()) {
      const isLast = at === pieces.length - 1;
      piece.spaceAfter = isLast && token.spaceAfter;
      const mark = markPhonemes(piece);
      if (mark !== undefined) piece.phonemes = mark;
      if (isSign(piece)) currency = piece.text;
      else if (mark === undefined && currency !== undefined) {
        if (piece.tag !== "CD") currency = undefined;
        else if (isLast && !isScale(tokens[index + 1])) {
          piece.currency = currency;
          currency = undefined;
        }
      } else if (mark === undefined && isTwoForTo(pieces, at)) piece.alias = "to";
      if (piece.phonemes !== undefined || piece.alias !== undefined) {
        words.push([piece]);
        isOpen = false;
        continue;
      }
      const word = words.at(-1);
      if (word !== undefined && isOpen) {
        piece.isHead = false;
        word.push(piece);
      } else words.push([piece]);
      isOpen = !piece.spaceAfter;
    }
  }
  return words;
}

/** Returns whether a token is a number word, which belongs to the amount before it: "$5 million". */
const isScale = (token: Token | undefined): boolean => token?.tag === "CD" && !/[0-9]/.test(token.text);

const isSign = ({ tag, text }: Token): boolean => tag === "$" && isCurrency(text);

/** Returns the phonemes of a mark; undefined for other pieces. */
function markPhonemes(piece: Token): string | undefined {
  if (isSign(piece)) return "";
  if (piece.tag === ":" && (piece.text === "-" || piece.text === "–")) return "—";
  if (!MARK_TAGS.has(piece.tag) || /^[A-Za-z]*$/.test(piece.text)) return undefined;
  return (
    QUOTES[piece.tag] ??
    Array.from(piece.text)
      .filter((character) => MARKS.has(character))
      .join("")
  );
}

/** Recognizes "B2B", "face2face". */
function isTwoForTo(pieces: readonly Token[], at: number): boolean {
  const [before, after] = [pieces[at - 1], pieces[at + 1]];
  if (pieces[at]?.text !== "2" || before === undefined || after === undefined) return false;
  return /\p{L}$/u.test(before.text) && /^\p{L}/u.test(after.text);
}
