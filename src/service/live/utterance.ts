// An utterance of a live session: recognised in pieces, partly while it continues, and reported once it is complete.

import type { SvcError } from "../../domain/errors.ts";
import type { LiveEvent } from "../../domain/live.ts";

export class Utterance {
  /** Number of pieces not recognised yet. */
  private waiting = 0;
  private text = "";
  /** Text not sent yet, because the client does not know the utterance yet. */
  private held = "";
  private failure: SvcError | undefined;
  /** Whether the client knows the utterance. */
  isKnown = false;
  private isOver = false;
  /** Length of the whole utterance, once it is committed. */
  private seconds: number | undefined;
  /** Language detected in the first piece; used for the other pieces. */
  language: string | undefined;

  constructor(
    readonly id: string,
    private readonly emit: (event: LiveEvent) => void,
  ) {}

  /** Whether further recognition is of use. */
  get isWanted(): boolean {
    return !this.isOver && this.failure === undefined;
  }

  /** Records that the client knows the utterance, and sends it the held text. */
  announce(): void {
    this.isKnown = true;
    this.send("");
  }

  /** Counts a new piece; `pieceEnded` follows for it. */
  pieceAdded(): void {
    this.waiting++;
  }

  heard(text: string): void {
    const next = this.text === "" ? text.trimStart() : text;
    this.text += next;
    this.send(next);
  }

  /** Records that a piece was recognised, failed or was skipped. */
  pieceEnded(failure?: SvcError): void {
    this.waiting--;
    this.failure ??= failure;
    this.settle();
  }

  /** Marks the utterance as complete. */
  commit(seconds: number): void {
    this.seconds = seconds;
    this.announce();
    this.settle();
  }

  /** Discards the utterance; nothing more is sent. */
  drop(): void {
    this.isOver = true;
  }

  private send(text: string): void {
    if (this.isOver) return;
    this.held += text;
    if (!this.isKnown || this.held === "") return;
    this.emit({ type: "delta", item: this.id, text: this.held });
    this.held = "";
  }

  private settle(): void {
    const { seconds, failure, id: item } = this;
    if (this.isOver || this.waiting > 0 || seconds === undefined) return;
    this.isOver = true;
    if (failure) this.emit({ type: "failed", item, error: failure });
    else this.emit({ type: "completed", item, text: this.text.trimEnd(), seconds });
  }
}
