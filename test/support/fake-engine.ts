// What all engines in memory share, except for the text engine.

import type { ProcessState, ProcessStatus } from "../../src/domain/process-status.ts";

export abstract class FakeEngine {
  state: ProcessState = "unloaded";
  /** Work that calls `opened` waits until the test settles this promise. */
  gate: Promise<unknown> = Promise.resolve();
  /** How much work waits there. */
  held = 0;

  constructor(readonly modelId: string) {}

  async unloadIdle(): Promise<boolean> {
    if (this.state === "ready") this.state = "unloaded";
    return this.state === "unloaded";
  }

  /** The part of the status that is the same for every kind of engine. */
  protected get plain() {
    const { modelId, state } = this;
    const process: ProcessStatus = { state, restarts: 0, running: 0, waiting: 0, residentBytes: 0 };
    return { ...process, modelId, created: 1_700_000_000 };
  }

  /** Waits for the gate. Rejects with the signal's reason when the signal is aborted. */
  protected async opened(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
    this.held++;
    await Promise.race([this.gate, aborted.promise]).finally(() => this.held--);
  }
}
