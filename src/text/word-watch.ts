// Looks for words in the bytes of a text that arrives in pieces.

export class WordWatch {
  private readonly words: readonly string[];
  private readonly kept: number;
  private recent = "";

  /** `lag`: bytes for which a word counts after its last one. */
  constructor(words: readonly string[], lag: number) {
    this.words = words.map((word) => bytewise(Buffer.from(word)));
    this.kept = this.words.reduce((longest, { length }) => Math.max(longest, length), 1) - 1 + lag;
  }

  /** Takes the next piece. True when it completes a word, or one was complete within the last `lag` bytes. */
  push(piece: Uint8Array): boolean {
    if (this.words.length === 0) return false;
    const text = this.recent + bytewise(piece);
    this.recent = text.slice(Math.max(0, text.length - this.kept));
    return this.words.some((word) => text.includes(word));
  }
}

/** One character a byte: pieces may end inside of characters. */
const bytewise = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1");
