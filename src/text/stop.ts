// Cuts a stream of text at the first stop sequence, without ever showing a part of one.

interface StopResult {
  /** Text that is safe to show now. */
  readonly text: string;
  /** The stop sequence that was found: nothing more will come. */
  readonly stop?: string;
}

/**
 * Matches any of several stop sequences over text that arrives in pieces. The earliest match wins. Text that may be the
 * beginning of a stop sequence is held back until it is known not to be one. Independent of how the text is cut up.
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

  /** The held text: the stream ended, so it was no stop sequence after all. */
  end(): string {
    const rest = this.held;
    this.held = "";
    return rest;
  }

  private firstMatch(text: string): { readonly index: number; readonly stop: string } | undefined {
    let first: { readonly index: number; readonly stop: string } | undefined;
    for (const stop of this.stops) {
      const index = text.indexOf(stop);
      if (index >= 0 && (!first || index < first.index)) first = { index, stop };
    }
    return first;
  }

  /** Length of the text before the longest suffix that could begin a stop sequence. */
  private safeLength(text: string): number {
    for (let start = Math.max(0, text.length - this.longest + 1); start < text.length; start++) {
      const tail = text.slice(start);
      if (this.stops.some((stop) => stop.startsWith(tail))) return start;
    }
    return text.length;
  }
}
