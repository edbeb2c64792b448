// Text out of what a recognizer says of each piece of a line (connectionist temporal classification): a character for every
// step, where the same one twice is one, and the first of all characters is none.

interface DecodedWord {
  readonly text: string;
  /** From 0 to 1. */
  readonly confidence: number;
  /** Its first step, and the one after its last. */
  readonly from: number;
  readonly to: number;
}

interface Letter {
  readonly text: string;
  readonly probability: number;
  readonly step: number;
}

/** The words of a line. `probabilities`: of each character, step after step. */
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

/** Between two letters is where one ends and the next begins; spaces part words. */
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
