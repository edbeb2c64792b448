// Adjusts the pieces of one word to each other: spaces between pieces of different kinds, else weaker stresses.

import { isAsciiDigits, isLetters } from "./characters.ts";
import { applyStress, PRIMARY, weight } from "./stress.ts";
import { isJunk } from "./subtokens.ts";
import type { Token } from "./token.ts";

/** Weakens stresses in a word of several pieces with phonemes, and marks where spaces are spoken inside the word. */
export function weaken(pieces: readonly Token[]): void {
  const text = pieces.map((piece) => piece.text).join("");
  const kinds = new Set(
    Array.from(text)
      .filter((character) => !isJunk(character))
      .map(kindOf),
  );
  if (text.includes("/") || kinds.size > 1) {
    for (const piece of pieces.slice(1)) piece.spaceBefore = true;
    return;
  }
  const spoken = pieces.flatMap((piece) => (piece.phonemes ? [{ piece, phonemes: piece.phonemes }] : []));
  const [first, second] = spoken;
  if (spoken.length === 2 && first && second && Array.from(first.piece.text).length === 1) {
    second.piece.phonemes = applyStress(second.phonemes, -0.5);
    return;
  }
  const stressed = spoken.filter(({ phonemes }) => phonemes.includes(PRIMARY)).length;
  if (spoken.length < 2 || stressed <= Math.floor((spoken.length + 1) / 2)) return;
  const rank = ({ phonemes }: { readonly phonemes: string }): number => (phonemes.includes(PRIMARY) ? 1 : 0);
  const weakest = spoken.toSorted((a, b) => rank(a) - rank(b) || weight(a.phonemes) - weight(b.phonemes));
  for (const { piece, phonemes } of weakest.slice(0, Math.floor(spoken.length / 2))) {
    piece.phonemes = applyStress(phonemes, -0.5);
  }
}

function kindOf(character: string): "letter" | "digit" | "other" {
  if (isLetters(character)) return "letter";
  return isAsciiDigits(character) ? "digit" : "other";
}
