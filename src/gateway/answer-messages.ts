// The messages of an answer, for as long as somebody wants them and the server is not silent for too long. A token costs no
// timer and no listener of its own.

import { MessageReader } from "./stream-lines.ts";
import { silent } from "./upstream-failure.ts";

export interface AnswerMessagesOptions {
  readonly response: Response;
  /** Characters of one message. */
  readonly longest?: number | undefined;
  /** Milliseconds between two pieces. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Something came. */
  readonly onHeard: () => void;
}

export class AnswerMessages {
  /** Since when a piece is awaited, in monotonic milliseconds; undefined: whoever reads is busy with the last one. */
  awaitedSince: number | undefined;
  private readonly body: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel"> | undefined;
  private readonly reader: MessageReader;
  private isLate = false;
  private timer: ReturnType<typeof setTimeout>;
  private readonly giveUp = () => void this.body?.cancel().catch(() => {});

  constructor(private readonly options: AnswerMessagesOptions) {
    const { response, longest, silenceMs, signal } = options;
    this.reader = new MessageReader(response.headers.get("content-type") ?? "", longest);
    this.body = response.body?.getReader();
    this.timer = setTimeout(this.look, silenceMs);
    signal.addEventListener("abort", this.giveUp, { once: true });
    if (signal.aborted) this.giveUp();
  }

  /** The JSON of those that came in one piece; undefined at the end. Throws UpstreamFailure, and the signal's reason. */
  async next(): Promise<readonly string[] | undefined> {
    const { signal, silenceMs, now, onHeard } = this.options;
    if (this.reader.isOver) return undefined;
    this.awaitedSince = now();
    try {
      const piece = await this.body?.read();
      signal.throwIfAborted();
      if (this.isLate) throw silent(silenceMs / 1000);
      this.awaitedSince = undefined;
      onHeard();
      return piece?.value ? this.reader.push(piece.value) : this.reader.end();
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Ends the request there as well. */
  async end(): Promise<void> {
    clearTimeout(this.timer);
    this.options.signal.removeEventListener("abort", this.giveUp);
    await this.body?.cancel().catch(() => {});
  }

  private readonly look = (): void => {
    const { silenceMs, now } = this.options;
    const leftMs = (this.awaitedSince ?? now()) + silenceMs - now();
    if (leftMs > 0) {
      this.timer = setTimeout(this.look, leftMs);
    } else {
      this.isLate = true;
      this.giveUp();
    }
  };
}
