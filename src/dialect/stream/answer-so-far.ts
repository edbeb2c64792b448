// Counts and times of an answer while it is generated.

import { sampledFor, type OutputEvent, type ProgressEvent } from "../../domain/generate.ts";
import { noUsage, type Usage } from "../../domain/usage.ts";

/** The tokens and times of an answer up to its last event; times are in milliseconds. */
export class AnswerSoFar {
  private tokens = 0;
  private progress: ProgressEvent | undefined;
  private firstAt: number | undefined;
  private lastAt: number;

  /** `begunAt`: start of the prompt's computation until an event reports when it began. */
  constructor(
    private readonly promptTokens: number,
    private begunAt: number,
  ) {
    this.lastAt = begunAt;
  }

  add(event: OutputEvent, now: number): void {
    this.lastAt = now;
    if (event.type === "progress") {
      this.progress = event;
      this.begunAt = now - event.ms;
    } else {
      this.firstAt ??= now;
      this.tokens += sampledFor(event);
    }
  }

  /** The usage so far; memory is not known yet and therefore 0. */
  get usage(): Usage {
    const { firstAt = this.lastAt, lastAt, begunAt, progress } = this;
    return {
      ...noUsage(progress?.total ?? this.promptTokens),
      cachedTokens: progress?.cached ?? 0,
      completionTokens: this.tokens,
      promptMs: firstAt - begunAt,
      completionMs: lastAt - firstAt,
    };
  }
}
