// Interfaces for metrics: what the request path reports, and what a scrape reads.

import type { BusyReason, ErrorCode } from "../domain/errors.ts";
import type { FinishReason, Usage } from "../domain/usage.ts";
import type { MetricTable } from "./exposition.ts";

/** How a line of a batch ends; `skipped`: its batch was cancelled or expired before. */
export const LINE_OUTCOMES = ["completed", "failed", "skipped"] as const;
export type LineOutcome = (typeof LINE_OUTCOMES)[number];

/** Milliseconds from acceptance to the first computation, and from that to the last event. */
export interface ComputingTimes {
  readonly queueMs: number;
  readonly computingMs: number;
}

/** What requests of one model report; each method is called once per occurrence. */
export interface RequestMetrics {
  /** Reports that a request was admitted. */
  started(): void;
  /** Reports that an admitted request uses this adapter, which is one of the operator's. */
  adapterChosen(name: string): void;
  /** Reports milliseconds from admission to the first text of an answer, and the tokens sampled for that text. */
  firstToken(ms: number, tokens?: number): void;
  /** Reports milliseconds between two pieces of text of an answer, and the tokens sampled for the second. */
  interToken(ms: number, tokens?: number): void;
  /** Reports that a request ended in order. `times`: given, if known, for a request that was computed to its end. */
  finished(reason: FinishReason, usage: Usage, endToEndMs: number, times?: ComputingTimes): void;
  /** `completionTokens`: tokens sampled before the failure. */
  failed(code: ErrorCode, endToEndMs: number, completionTokens?: number): void;
  /** Reports that a request was rejected with `server_busy`. */
  rejected(reason: BusyReason): void;
}

/** The kind of an engine, and the name of its model. */
export interface MetricSubject {
  readonly kind: string;
  readonly model: string;
}

export interface Metrics {
  connectionOpened(): void;
  connectionClosed(): void;
  /** Reports that a request was answered. `route`: a served route or `unknown`; `apiKey`: name of the API key. */
  requestEnded(route: string, status: number, apiKey?: string): void;
  /** Returns the metrics of requests to this model, the same object at every call. */
  of(subject: MetricSubject): RequestMetrics;
  /** Reports that a line of a batch is in the batch's output. */
  batchLineEnded(outcome: LineOutcome): void;
  /** Returns the text exposition. `levels`: read at scrape time. */
  render(levels: MetricLevels): string;
}

/** Batches by status and files by purpose in the data folder, which several servers may share. */
export interface JobLevels {
  readonly batches: ReadonlyMap<string, number>;
  readonly linesWaiting: number;
  readonly files: ReadonlyMap<string, { readonly count: number; readonly bytes: number }>;
}

/** Levels that are read at scrape time. */
export interface MetricLevels {
  readonly version: string;
  /** The metrics that each engine reports, with its labels. */
  readonly engines: readonly MetricTable[];
  /** Entries in the cancel registry; zero when nothing runs. */
  readonly registered: number;
  readonly residentBytes: number;
  readonly cpuSeconds: number;
  /** Open live sessions. */
  readonly sessions: number;
  /** Undefined: the data folder cannot be read. */
  readonly jobs: JobLevels | undefined;
}

/** Returns the labels of all metrics about a model. */
export const subjectLabels = ({ kind, model }: MetricSubject) => ({ model_name: model, engine: kind });
