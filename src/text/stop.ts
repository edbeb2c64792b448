// Cuts a stream of text at the first stop sequence, without ever releasing a part of that sequence.

interface StopResult {
  /** Text that can be released now. */
  readonly text: string;
  /** The stop sequence that was found: no more text follows. */
  readonly stop?: string;
}

/**
 * Matches any of several stop sequences in text that arrives in pieces. The match that is complete first wins; of those
 * that end together, the longest. Text that may be a prefix of a stop sequence is held back until the next text
 * decides. The result does not depend on how the text is split.
 */
export class StopMatcher {
  private held = "";
  private readonly longest: number;

  constructor(private readonly stops: readonly string[]) {
    this.longest = stops.reduce((longest, stop) => Math.max(longest, stop.length), 0);
  }

  push(piece: string): StopResult {
    if (this.longest === 0) return { text: piece };
    const text = this.held + piece;
    const match = this.firstMatch(text);
    if (match) {
      this.held = "";
      return { text: text.slice(0, match.index), stop: match.stop };
    }
    const safe = this.safeLength(text);
    this.held = text.slice(safe);
    return { text: text.slice(0, safe) };
  }

  /** Returns the held text at the end of the stream: it was not a stop sequence. */
  end(): string {
    const rest = this.held;
    this.held = "";
    return rest;
  }

  private firstMatch(text: string): { readonly index: number; readonly stop: string } | undefined {
    const found = this.stops.flatMap((stop) => {
      const index = text.indexOf(stop);
      return index < 0 ? [] : [{ index, end: index + stop.length, stop }];
    });
    return found.toSorted((a, b) => a.end - b.end || a.index - b.index)[0];
  }

  /** Returns the length of the text before the longest suffix that could begin a stop sequence. */
  private safeLength(text: string): number {
    for (let start = Math.max(0, text.length - this.longest + 1); start < text.length; start++) {
      const tail = text.slice(start);
      if (this.stops.some((stop) => stop.startsWith(tail))) return start;
    }
    return text.length;
  }
}
