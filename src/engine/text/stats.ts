// Collects what a text engine reports, across its processes: counts continue where those of a dead process ended.

import type { Clock } from "../../domain/clock.ts";
import { addSteps, noSteps } from "../../domain/steps.ts";
import { nobodyWaits, WAIT_REASONS } from "../../domain/waiting.ts";
import { by, gauge, type Metric } from "../../telemetry/exposition.ts";
import { afterProcesses, kvMetrics, noKvStats } from "./kv-stats.ts";
import type { Levels, TextReport } from "./protocol.ts";
import { stepMetrics } from "./step-metrics.ts";

const idle: Levels = { running: 0, waiting: 0, waitingFor: nobodyWaits, kv: noKvStats };

export class TextStats {
  private readonly steps = noSteps();
  levels = idle;
  private updatedAt = 0;
  /** The counts of earlier engine processes. */
  private past = noKvStats;

  constructor(private readonly clock: Clock) {}

  /** Records a report of the engine process. */
  update({ levels, steps }: TextReport): void {
    if (steps) addSteps(this.steps, steps);
    if (!levels) return;
    this.levels = levels;
    this.updatedAt = this.clock.now();
  }

  /** Called when the engine process is gone; the next one counts from zero. */
  processEnded(): void {
    this.past = afterProcesses(this.past, this.levels.kv);
    this.levels = idle;
  }

  /** Returns the milliseconds until the engine expects a running request to end; undefined if it reported none. */
  placeFreeMs(): number | undefined {
    const { placeFreeMs } = this.levels;
    return placeFreeMs && Math.max(0, placeFreeMs - (this.clock.now() - this.updatedAt));
  }

  /** `parallel`: most requests computed at once; `size`: cells of the KV cache. */
  metrics(parallel: number, size: number): Metric[] {
    const { waitingFor, kv } = this.levels;
    return [
      by(
        "gauge",
        "svc_num_requests_waiting_by_reason",
        "Accepted requests by what they wait for.",
        "reason",
        WAIT_REASONS.map((reason) => [reason, waitingFor[reason]]),
      ),
      gauge("svc_max_concurrent_requests", "Maximum requests computed at once.", parallel),
      ...kvMetrics(afterProcesses(this.past, kv), size),
      ...stepMetrics(this.steps),
    ];
  }
}
