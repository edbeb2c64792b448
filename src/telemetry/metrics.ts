// What the request path reports, and what a scrape reads.

import type { BusyReason, ErrorCode } from "../domain/errors.ts";
import type { StepTally } from "../domain/steps.ts";
import type { FinishReason, Usage } from "../domain/usage.ts";
import type { Waiting } from "../domain/waiting.ts";

/** What the request path reports; each call is made once per happening, on every route that generates. */
export interface Metrics {
  connectionOpened(): void;
  connectionClosed(): void;
  /** A request was answered; `route` is one of those that are served, or `unknown`. */
  requestEnded(route: string, status: number): void;
  /** A generation was admitted. */
  generationStarted(): void;
  /** An admitted generation is computed with this adapter, which is one of the operator's. */
  adapterChosen(name: string): void;
  /** Milliseconds from admission to the first text. */
  firstToken(ms: number): void;
  /** Milliseconds between two pieces of text of one generation. */
  interToken(ms: number): void;
  generationFinished(reason: FinishReason, usage: Usage, endToEndMs: number): void;
  generationFailed(code: ErrorCode, endToEndMs: number): void;
  /** A request was turned away with `server_busy`. */
  rejected(reason: BusyReason): void;
  /** The text exposition; `levels` are read at scrape time. */
  render(levels: MetricLevels): string;
}

/** Levels that are read when someone looks. */
export interface MetricLevels {
  readonly version: string;
  readonly modelName: string;
  readonly running: number;
  readonly waiting: number;
  readonly waitingFor: Waiting;
  readonly parallel: number;
  readonly kvUsed: number;
  readonly kvCached: number;
  readonly kvSaved: number;
  readonly kvDisk: number;
  readonly kvTotal: number;
  readonly preemptions: number;
  readonly evictedTokens: number;
  readonly spilledTokens: number;
  readonly restoredTokens: number;
  readonly diskWrittenTokens: number;
  readonly diskRestoredTokens: number;
  readonly diskFailedTokens: number;
  readonly engineSteps: number;
  readonly engineRestarts: number;
  readonly engineUp: boolean;
  readonly engineResidentBytes: number;
  /** Entries in the cancel registry; zero when nothing runs. */
  readonly registered: number;
  readonly residentBytes: number;
  readonly cpuSeconds: number;
  readonly steps: StepTally;
}
