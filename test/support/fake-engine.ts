// What all engines in memory have, but for that of text.

import type { ProcessState, ProcessStatus } from "../../src/domain/process-status.ts";

export abstract class FakeEngine {
  state: ProcessState = "unloaded";
  /** Settled by a test, some of the work waits for it. */
  gate: Promise<unknown> = Promise.resolve();

  constructor(readonly modelId: string) {}

  /** The part of the status that is of no kind. */
  protected get plain() {
    const { modelId, state } = this;
    const process: ProcessStatus = { state, restarts: 0, running: 0, waiting: 0, residentBytes: 0 };
    return { ...process, modelId, created: 1_700_000_000 };
  }

  /** Waits for the gate. Rejects with the signal's reason when that is aborted. */
  protected async opened(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
    await Promise.race([this.gate, aborted.promise]);
  }
}
