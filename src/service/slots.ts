// Saves, restores and erases slots, few at a time: each action needs memory or a file of its own.

import type { Clock } from "../domain/clock.ts";
import { SvcError } from "../domain/errors.ts";
import type { SlotAction, SlotOutcome } from "../domain/slots.ts";
import type { TextPort } from "../engine/text/port.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";
import { FewAtOnce } from "./few-at-once.ts";

/** Maximum number of actions running or waiting. */
export const MOST_SLOT_ACTIONS = 32;

interface SlotDeps {
  readonly engine: Pick<TextPort, "slot">;
  /** Whether a folder for slots is configured. */
  readonly isEnabled: boolean;
  readonly metrics: Pick<RequestMetrics, "rejected">;
  readonly clock: Clock;
}

export class SlotService {
  private readonly few: FewAtOnce;

  constructor(private readonly deps: SlotDeps) {
    this.few = new FewAtOnce(MOST_SLOT_ACTIONS, deps);
  }

  /** Throws SvcError `mode_unavailable` when slots are not enabled. */
  check(): void {
    if (this.deps.isEnabled && this.deps.engine.slot) return;
    throw new SvcError(
      "mode_unavailable",
      "This server does not save slots: it was started without --slot-save-path DIR.",
    );
  }

  /** Carries out an action. Throws what `check` and the engine throw, and `server_busy` beyond the limit. */
  async run(action: SlotAction, signal: AbortSignal): Promise<SlotOutcome> {
    this.check();
    const outcome = await this.few.run(async () => this.deps.engine.slot?.(action, signal));
    if (outcome) return outcome;
    throw new SvcError("internal_error", "The engine gave no answer.");
  }
}
