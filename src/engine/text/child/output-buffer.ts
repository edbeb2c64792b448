// Buffers the output events of steps on their way to the front process. The events of fast steps are sent together:
// with few cores, sending a message slows the computation down.

import { appendEvents } from "../../../domain/held-text.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { StepEvent, StepOutput } from "../protocol.ts";

export class OutputBuffer {
  private held = new Map<JobKey, StepEvent[]>();
  /** When the newest computation began, and the computation of the oldest held events. */
  private begunAt = 0;
  private since = 0;

  /** Buffers events of the newest computation. */
  hold(key: JobKey, events: readonly StepEvent[]): void {
    if (events.length === 0) return;
    if (this.held.size === 0) this.since = this.begunAt;
    const before = this.held.get(key) ?? [];
    appendEvents(before, events);
    this.held.set(key, before);
  }

  /**
   * Notes that a computation of this length begins. Returns true if the held events must be sent now: events are sent
   * at most `longestMs` after their computation began, or as soon as it ends when it takes longer.
   */
  begin(now: number, expectedMs: number, longestMs: number): boolean {
    this.begunAt = now;
    return this.held.size > 0 && now + expectedMs - this.since > longestMs;
  }

  /** Empties the buffer; the caller sends what it returns. */
  take(): StepOutput[] {
    const outputs = [...this.held].map(([key, events]) => ({ key, events }));
    this.held = new Map();
    return outputs;
  }
}
