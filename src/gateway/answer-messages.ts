// The messages of an answer, for as long as somebody wants them and the server is not silent for too long. A token costs no
// timer and no listener of its own.

import type { MessageReader } from "./stream-lines.ts";
import { silent } from "./upstream-failure.ts";

export interface AnswerMessagesOptions {
  readonly reader: MessageReader;
  /** Milliseconds between two pieces. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Something came. */
  readonly onHeard: () => void;
}

export class AnswerMessages {
  /** Since when a piece is awaited; undefined: whoever reads is busy with the last one. */
  private readingSince: number | undefined;
  private isLate = false;
  private timer: ReturnType<typeof setTimeout>;
  private readonly giveUp = () => void this.options.reader.cancel();

  constructor(private readonly options: AnswerMessagesOptions) {
    this.timer = setTimeout(this.look, options.silenceMs);
    options.signal.addEventListener("abort", this.giveUp, { once: true });
    if (options.signal.aborted) this.giveUp();
  }

  /** Those that came in one piece; undefined at the end. Throws UpstreamFailure, and the signal's reason. */
  async next(): Promise<unknown[] | undefined> {
    const { reader, signal, silenceMs, now, onHeard } = this.options;
    this.readingSince = now();
    try {
      const messages = await reader.next();
      signal.throwIfAborted();
      if (this.isLate) throw silent(silenceMs / 1000);
      this.readingSince = undefined;
      onHeard();
      return messages;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Ends the request there as well. */
  async end(): Promise<void> {
    clearTimeout(this.timer);
    this.options.signal.removeEventListener("abort", this.giveUp);
    await this.options.reader.cancel();
  }

  private readonly look = (): void => {
    const { silenceMs, now } = this.options;
    const leftMs = (this.readingSince ?? now()) + silenceMs - now();
    if (leftMs > 0) {
      this.timer = setTimeout(this.look, leftMs);
    } else {
      this.isLate = true;
      this.giveUp();
    }
  };
}
