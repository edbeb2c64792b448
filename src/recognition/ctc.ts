// Decodes a recognizer's output (connectionist temporal classification): one character per step, where a repeated
// character counts once, and the first character of the alphabet means none.

interface DecodedWord {
  readonly text: string;
  /** From 0 to 1. */
  readonly confidence: number;
  /** The word's first step, and the step after its last; may lie between two steps. */
  readonly from: number;
  readonly to: number;
}

interface Letter {
  readonly text: string;
  readonly probability: number;
  readonly step: number;
}

/** Returns the words of a line. `probabilities`: one per character, step after step. */
export function decodeSteps(probabilities: Float32Array, characters: readonly string[]): DecodedWord[] {
  const letters: Letter[] = [];
  let last = 0;
  for (let start = 0, step = 0; start < probabilities.length; start += characters.length, step++) {
    const best = largest(probabilities, start, start + characters.length) - start;
    const text = characters[best];
    if (best !== 0 && best !== last && text !== undefined) {
      letters.push({ text, probability: probabilities[start + best] as number, step });
    }
    last = best;
  }
  return wordsOf(letters, probabilities.length / characters.length);
}

function largest(values: Float32Array, start: number, end: number): number {
  let best = start;
  for (let at = start + 1; at < end; at++) if ((values[at] as number) > (values[best] as number)) best = at;
  return best;
}

/** Words end at spaces; the edge between two letters is midway between their steps. */
function wordsOf(letters: readonly Letter[], steps: number): DecodedWord[] {
  const words: DecodedWord[] = [];
  let word: Letter[] = [];
  const edge = (at: number) => {
    const [before, after] = [letters[at - 1], letters[at]];
    return before && after ? (before.step + after.step + 1) / 2 : before ? steps : 0;
  };
  for (const [at, letter] of [...letters, undefined].entries()) {
    if (letter && letter.text.trim() !== "") {
      word.push(letter);
      continue;
    }
    if (word.length > 0) {
      const confidence = word.reduce((sum, { probability }) => sum + probability, 0) / word.length;
      words.push({
        text: word.map(({ text }) => text).join(""),
        confidence,
        from: edge(at - word.length),
        to: edge(at),
      });
    }
    word = [];
  }
  return words;
}
