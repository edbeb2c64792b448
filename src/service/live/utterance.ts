// An utterance of a live session: recognised in pieces, in part while it goes on, and reported when it is whole.

import type { SvcError } from "../../domain/errors.ts";
import type { LiveEvent } from "../../domain/live.ts";
import type { SpeechSegment } from "../../domain/transcription.ts";

export class Utterance {
  /** Pieces that are not recognised yet. */
  private waiting = 0;
  private text = "";
  /** What the client has not been sent, because it does not know the utterance yet. */
  private held = "";
  private failure: SvcError | undefined;
  private isKnown = false;
  private isOver = false;
  /** Of the whole utterance, once it is committed. */
  private seconds: number | undefined;
  /** Detected in its first piece; the others are in the same language. */
  language: string | undefined;

  constructor(
    readonly id: string,
    private readonly emit: (event: LiveEvent) => void,
  ) {}

  /** Whether recognising more of it is of use. */
  get isWanted(): boolean {
    return !this.isOver && this.failure === undefined;
  }

  /** From now on the client has heard of it. */
  announce(): void {
    this.isKnown = true;
    this.send("");
  }

  /** A piece of it is to be recognised: `pieceEnded` follows. */
  pieceAdded(): void {
    this.waiting++;
  }

  heard(segment: SpeechSegment): void {
    const text = this.text === "" ? segment.text.trimStart() : segment.text;
    this.text += text;
    this.send(text);
  }

  /** A piece is recognised, or will not be. */
  pieceEnded(failure?: SvcError): void {
    this.waiting--;
    this.failure ??= failure;
    this.settle();
  }

  /** It is whole. */
  commit(seconds: number): void {
    this.seconds = seconds;
    this.announce();
    this.settle();
  }

  /** Nobody wants it. */
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
