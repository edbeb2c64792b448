// What steps gave, on its way to the front process. Steps that follow each other fast are told together: on few cores, each
// message costs the computation more than it takes itself.

import type { OutputEvent } from "../../../domain/generate.ts";
import type { RequestKey } from "../../process/protocol.ts";
import type { StepOutput } from "../protocol.ts";
import { appendEvents } from "./append-events.ts";

export class Outbox {
  private held = new Map<RequestKey, OutputEvent[]>();
  /** When the newest computation began, and the one that gave the oldest of what is held. */
  private begunAt = 0;
  private since = 0;

  /** `longestMs`: what was computed is sent so long after its computation began, or when that ends. */
  constructor(private readonly longestMs: number) {}

  /** The newest computation gave these events. */
  hold(key: RequestKey, events: readonly OutputEvent[]): void {
    if (events.length === 0) return;
    if (this.held.size === 0) this.since = this.begunAt;
    const before = this.held.get(key) ?? [];
    appendEvents(before, events);
    this.held.set(key, before);
  }

  /** A computation of so many milliseconds begins. True when something would be held too long if it were sent after it. */
  begin(now: number, expectedMs: number): boolean {
    this.begunAt = now;
    return this.held.size > 0 && now + expectedMs - this.since > this.longestMs;
  }

  /** All that was held; it is the caller's to send. */
  take(): StepOutput[] {
    const outputs = [...this.held].map(([key, events]) => ({ key, events }));
    this.held = new Map();
    return outputs;
  }
}
