// What the request path reports, and what a scrape reads.

import type { BusyReason, ErrorCode } from "../domain/errors.ts";
import type { StepCounts } from "../domain/steps.ts";
import type { FinishReason, Usage } from "../domain/usage.ts";
import type { Waiting } from "../domain/waiting.ts";

/** How a line of a batch ends; skipped are those that nobody asked about, as their batch was cancelled or expired. */
export const LINE_OUTCOMES = ["completed", "failed", "skipped"] as const;
export type LineOutcome = (typeof LINE_OUTCOMES)[number];

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
  /** A line of a batch is in its output. */
  batchLineEnded(outcome: LineOutcome): void;
  /** The text exposition; `levels` are read at scrape time. */
  render(levels: MetricLevels): string;
}

/** Files and batches in the data folder, which servers may share: by status, and by purpose with their bytes. */
export interface JobLevels {
  readonly batches: ReadonlyMap<string, number>;
  readonly linesWaiting: number;
  readonly files: ReadonlyMap<string, { readonly count: number; readonly bytes: number }>;
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
  readonly steps: StepCounts;
  /** Undefined: the data folder cannot be read. */
  readonly jobs: JobLevels | undefined;
}
