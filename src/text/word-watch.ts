// Searches for words in the bytes of a text that arrives in pieces.

export class WordWatch {
  private readonly words: readonly string[];
  private readonly kept: number;
  private recent = "";

  /** `lag`: for how many bytes after its end a word still counts as found. */
  constructor(words: readonly string[], lag: number) {
    this.words = words.map((word) => bytewise(Buffer.from(word)));
    this.kept = this.words.reduce((longest, { length }) => Math.max(longest, length), 1) - 1 + lag;
  }

  /** Adds the next piece. Returns whether it completes a word, or a word ended within the `lag` bytes before. */
  push(piece: Uint8Array): boolean {
    if (this.words.length === 0) return false;
    const text = this.recent + bytewise(piece);
    this.recent = text.slice(Math.max(0, text.length - this.kept));
    return this.words.some((word) => text.includes(word));
  }
}

/** Decodes one character per byte, because pieces may end inside a character. */
const bytewise = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");
