// What the request path reports, and what a scrape reads.

import type { BusyReason, ErrorCode } from "../domain/errors.ts";
import type { FinishReason, Usage } from "../domain/usage.ts";
import type { MetricTable } from "./exposition.ts";

/** How a line of a batch ends; skipped are those whose batch was cancelled or expired before. */
export const LINE_OUTCOMES = ["completed", "failed", "skipped"] as const;
export type LineOutcome = (typeof LINE_OUTCOMES)[number];

/** Milliseconds from acceptance to the first computation, and from there to the last event. */
export interface ComputingTimes {
  readonly queueMs: number;
  readonly computingMs: number;
}

/** What requests of one model report; each call is made once per happening. */
export interface RequestMetrics {
  /** A request was admitted. */
  started(): void;
  /** An admitted request is computed with this adapter, which is one of the operator's. */
  adapterChosen(name: string): void;
  /** Milliseconds from admission to the first text of an answer, which so many tokens were sampled for. */
  firstToken(ms: number, tokens?: number): void;
  /** Milliseconds between two pieces of text of one answer, and the tokens sampled for the second. */
  interToken(ms: number, tokens?: number): void;
  /** `times` are those of a request that was computed to its end, where they are known. */
  finished(reason: FinishReason, usage: Usage, endToEndMs: number, times?: ComputingTimes): void;
  failed(code: ErrorCode, endToEndMs: number): void;
  /** A request was turned away with `server_busy`. */
  rejected(reason: BusyReason): void;
}

/** The kind of engine that computes requests, and the name of its model. */
export interface MetricSubject {
  readonly kind: string;
  readonly model: string;
}

export interface Metrics {
  connectionOpened(): void;
  connectionClosed(): void;
  /** A request was answered; `route` is one of those that are served, or `unknown`; `apiKey` is the name of its key. */
  requestEnded(route: string, status: number, apiKey?: string): void;
  /** The metrics of requests to this model: the same at every call. */
  of(subject: MetricSubject): RequestMetrics;
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
  /** What each engine reports of itself, with its labels. */
  readonly engines: readonly MetricTable[];
  /** Entries in the cancel registry; zero when nothing runs. */
  readonly registered: number;
  readonly residentBytes: number;
  readonly cpuSeconds: number;
  /** Live sessions. */
  readonly sessions: number;
  /** Undefined: the data folder cannot be read. */
  readonly jobs: JobLevels | undefined;
}

/** The labels of all metrics about a model. */
export const subjectLabels = ({ kind, model }: MetricSubject) => ({ model_name: model, engine: kind });
