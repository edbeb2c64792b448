// What is known of an answer while it is written.

import { sampledFor, type OutputEvent, type ProgressEvent } from "../../domain/generate.ts";
import { noUsage, type Usage } from "../../domain/usage.ts";

/** The tokens and times of an answer until its last event; times are in milliseconds. */
export class AnswerSoFar {
  private tokens = 0;
  private progress: ProgressEvent | undefined;
  private firstAt: number | undefined;
  private lastAt: number;

  /** `begunAt`: as long as no event says when the prompt's computation began. */
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

  /** Its memory is not known yet: 0. */
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
