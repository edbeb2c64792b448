// Logs decisions about requests: admitted, and how much of the prompt is cached; preempted; resumed.

import type { JobKey } from "../../process/protocol.ts";
import type { StepFinish } from "../protocol.ts";
import type { ReadyPrompt } from "./intake.ts";
import type { AdmissionLevels, Decoded, EngineObserver } from "./observer.ts";

interface Waiting {
  readonly id: string;
  readonly promptTokens: number;
  /** When it was accepted or preempted, in milliseconds of the engine's clock. */
  since: number;
}

type Write = (text: string, fields: Readonly<Record<string, string | number>>) => void;

export class DecisionLog implements EngineObserver {
  private readonly known = new Map<JobKey, Waiting>();
  private readonly preemptedKeys = new Set<JobKey>();

  constructor(private readonly write: Write) {}

  accepted({ key, request, tokens }: ReadyPrompt, now: number): void {
    this.known.set(key, { id: request.id, promptTokens: tokens.length, since: now });
  }

  started(keys: readonly JobKey[], now: number, levels: AdmissionLevels): void {
    for (const key of keys) {
      const request = this.known.get(key);
      if (!request) continue;
      const { id, promptTokens: prompt, since } = request;
      const { runningCount: running, waitingCount: waiting } = levels;
      const { cached } = levels.progress(key);
      this.write("admitted", { id, waited_ms: Math.round(now - since), prompt, cached, running, waiting });
    }
  }

  preempted(key: JobKey, now: number): void {
    const request = this.known.get(key);
    if (!request) return;
    request.since = now;
    this.preemptedKeys.add(key);
    this.write("preempted", { id: request.id });
  }

  decoded({ step, before }: Decoded): void {
    if (this.preemptedKeys.size === 0) return;
    for (const { key } of "rows" in step ? step.rows : [step]) {
      const request = this.known.get(key);
      if (!this.preemptedKeys.delete(key) || !request) continue;
      this.write("resumed", { id: request.id, waited_ms: Math.round(before - request.since) });
    }
  }

  finished(finish: StepFinish): StepFinish {
    this.known.delete(finish.key);
    this.preemptedKeys.delete(finish.key);
    return finish;
  }
}
