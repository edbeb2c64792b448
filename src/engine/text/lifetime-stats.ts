// What the engine says of itself, as one engine that never died: counts go on where those of a dead process ended.

import type { Clock } from "../../domain/clock.ts";
import { addSteps, noSteps, type StepCounts } from "../../domain/steps.ts";
import { noStats } from "./port.ts";
import type { Levels } from "./protocol.ts";

/** What only grows, over all engine processes. */
const COUNTS = [
  "steps",
  "preemptions",
  "evictedTokens",
  "spilledTokens",
  "restoredTokens",
  "diskWrittenTokens",
  "diskRestoredTokens",
  "diskFailedTokens",
] as const;
type Counts = Record<(typeof COUNTS)[number], number>;

const sum = (a: Counts, b: Counts): Counts =>
  Object.fromEntries(COUNTS.map((name) => [name, a[name] + b[name]])) as Counts;

export class LifetimeStats {
  readonly steps = noSteps();
  private levels: Levels = noStats;
  private toldAt = 0;
  /** What earlier engine processes had counted. */
  private past: Counts = noStats;
  /** The sum of both, once somebody has asked for it: a full server tells many at once how long to wait. */
  private summed: Levels | undefined;

  constructor(private readonly clock: Clock) {}

  /** Takes in what the engine process says now. */
  update(levels: Levels): void {
    this.levels = levels;
    this.summed = undefined;
    this.toldAt = this.clock.now();
  }

  addSteps(tally: StepCounts): void {
    addSteps(this.steps, tally);
  }

  /** The engine process is dead; the next one begins to count at zero. */
  processEnded(): void {
    this.past = sum(this.past, this.levels);
    this.levels = noStats;
    this.summed = undefined;
  }

  current(): Levels {
    const placeFreeMs = this.placeFreeMs();
    this.summed ??= { ...this.levels, ...sum(this.past, this.levels) };
    return { ...this.summed, ...(placeFreeMs !== undefined && { placeFreeMs }) };
  }

  /** Milliseconds until the engine expects a running request to end. */
  placeFreeMs(): number | undefined {
    const { placeFreeMs } = this.levels;
    return placeFreeMs && Math.max(0, placeFreeMs - (this.clock.now() - this.toldAt));
  }
}
