// When the streams of upstreams' answers are read again: while many run, each read and each write brings the tokens of
// some milliseconds, which costs much less than one token at a time.

import { HELD_MS, MANY_STREAMS } from "../domain/held-text.ts";

export class ReadPace {
  /** Streams whose text has begun. */
  private streams = 0;
  private readonly waiting: (() => void)[] = [];

  /** Counts a stream whose text begins. */
  begin(): void {
    this.streams++;
  }

  end(): void {
    this.streams--;
  }

  /** Whether streams wait between two reads; few never do, because a timer costs as much as a token. */
  get isOn(): boolean {
    return this.streams >= MANY_STREAMS;
  }

  /**
   * Returns a promise that resolves when a stream that has just passed text on is to be read again; undefined: at once.
   * All streams are read in the same turn of the event loop, so the process wakes up once for all.
   */
  next(): Promise<void> | undefined {
    if (!this.isOn) return undefined;
    if (this.waiting.length === 0) setTimeout(this.release, HELD_MS);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private readonly release = (): void => {
    for (const resolve of this.waiting.splice(0)) resolve();
  };
}
