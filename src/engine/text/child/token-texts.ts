// Turns the bytes of tokens into one text, or into a JSON list with an element for each token.

/** Takes the bytes of consecutive tokens. */
interface TokenTexts {
  push(tokens: readonly Uint8Array[]): void;
  end(): string;
}

export class JoinedText implements TokenTexts {
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private text = "";

  push(tokens: readonly Uint8Array[]): void {
    this.text += this.decoder.decode(Buffer.concat(tokens), { stream: true });
  }

  end(): string {
    return this.text + this.decoder.decode();
  }
}

/** A token that is not valid UTF-8 by itself becomes a list of its bytes. */
export class TextList implements TokenTexts {
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
  private readonly pieces: (string | number[])[] = [];

  push(tokens: readonly Uint8Array[]): void {
    for (const bytes of tokens) this.pieces.push(this.textOf(bytes) ?? [...bytes]);
  }

  end(): string {
    return JSON.stringify(this.pieces);
  }

  private textOf(bytes: Uint8Array): string | undefined {
    try {
      return this.decoder.decode(bytes);
    } catch {
      return undefined;
    }
  }
}
