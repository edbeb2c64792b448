// Reads the messages of an answer until the request is aborted or the server is silent for too long. Tokens need no
// timers or listeners of their own.

import type { TurnLimit } from "../domain/turn-limit.ts";
import { MessageReader } from "./stream-lines.ts";
import { silent } from "./upstream-failure.ts";

/** Bytes to parse at once: even with thousands of messages, a few milliseconds of work. */
const PART_BYTES = 16 * 1024;
const NOTHING = new Uint8Array();

interface AnswerMessagesOptions {
  readonly response: Response;
  /** Maximum characters of one message. */
  readonly longest?: number | undefined;
  /** Maximum milliseconds between two pieces. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** Returns monotonic milliseconds. */
  readonly now: () => number;
  /** Limits the bytes of all answers that are parsed per turn of the event loop. */
  readonly turns: TurnLimit;
  /** Called when a piece arrives. */
  readonly onHeard: () => void;
}

export class AnswerMessages {
  /** Monotonic milliseconds when the wait for the next piece began; undefined while the last one is processed. */
  awaitedSince: number | undefined;
  private readonly body: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel"> | undefined;
  private readonly reader: MessageReader;
  private isLate = false;
  /** Part of the last piece that is not parsed yet. */
  private rest: Uint8Array = NOTHING;
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

  /** Whether there is more of what has come than `next` has returned. */
  get hasMore(): boolean {
    return this.rest.length > 0;
  }

  /**
   * Returns the JSON of messages that arrived together; undefined at the end. Throws UpstreamFailure, or the signal's
   * reason.
   */
  async next(): Promise<readonly string[] | undefined> {
    const { signal, turns } = this.options;
    if (this.reader.isOver) return undefined;
    try {
      while (this.rest.length === 0) {
        const piece = await this.read();
        if (!piece) return this.reader.end();
        this.rest = piece;
      }
      const most = this.reader.isWhole ? Number.POSITIVE_INFINITY : PART_BYTES;
      const part = this.rest.subarray(0, most);
      this.rest = this.rest.subarray(most);
      const turn = this.reader.isWhole ? undefined : turns.enter(part.length);
      // Awaiting nothing would cost time for each token, too.
      if (turn) await turn;
      signal.throwIfAborted();
      return this.reader.push(part);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Returns the next bytes; undefined at the end. */
  private async read(): Promise<Uint8Array | undefined> {
    const { signal, silenceMs, now, onHeard } = this.options;
    this.awaitedSince = now();
    const piece = await this.body?.read();
    signal.throwIfAborted();
    if (this.isLate) throw silent(silenceMs / 1000);
    this.awaitedSince = undefined;
    onHeard();
    return piece?.value;
  }

  /** Stops reading, and ends the request at the server. */
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
