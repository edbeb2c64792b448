// Token bytes to whole characters: a token may end in the middle of one.

/** Assembles UTF-8 across pieces; an incomplete character is held back until it is complete, broken bytes become U+FFFD. */
export class Utf8Assembler {
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  /** The characters that are complete with these bytes; may be empty. */
  push(bytes: Uint8Array): string {
    return bytes.length === 0 ? "" : this.decoder.decode(bytes, { stream: true });
  }

  /** What an incomplete character at the end becomes: U+FFFD, or nothing. */
  end(): string {
    return this.decoder.decode();
  }
}
