// The messages between the front process and an engine process of any kind. Both are the same binary, so the version
// only detects a stale process; adding a message requires a new version.

import type { CancelCause } from "../../domain/cancel.ts";
import type { BusyReason, ErrorCode } from "../../domain/errors.ts";

export const PROTOCOL_VERSION = 17;

/**
 * File descriptor in the engine process on which the front process requests aborts, with a 4-byte key each. The engine
 * process reports on it, a line each: once a second whether a computation has moved on (`+` or `-`) and what it is; `!`
 * with a key before native code ends the process because of that job; `@` with a JSON string before it reads that file.
 */
export const ABORT_FD = 3;

/** Identifies a job within one front process; never reused. */
export type JobKey = number;

export type ToEngine<Options, Job> =
  | { readonly type: "load"; readonly version: number; readonly options: Options }
  | { readonly type: "submit"; readonly key: JobKey; readonly job: Job }
  /** A part of a content; the job is submitted after all its parts. The next part is sent after `taken`. */
  | ({ readonly type: "part"; readonly key: JobKey } & Part)
  /** With the cause `client` nobody reads the outcome; engines with `abortGraceMs` tell by it that the work has ended. */
  | { readonly type: "cancel"; readonly key: JobKey; readonly cause: CancelCause }
  /** The job's reader has fallen behind, or has caught up. */
  | { readonly type: "hold"; readonly key: JobKey; readonly held: boolean }
  /** The process stores what is worth keeping and ends. */
  | { readonly type: "end" };

/** Some bytes of a content that is too large for one message, which would delay all others. */
export interface Part {
  /** Index of the content within the job, from 0. */
  readonly index: number;
  readonly length: number;
  /** Offset of these bytes in the content. */
  readonly from: number;
  readonly bytes: Uint8Array;
}

/** Why a job is not computed. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** The request field at fault; absent when nothing is wrong with the request. */
  readonly param?: string;
  /** Set with `server_busy`. */
  readonly busy?: BusyReason;
}

/** In bytes. */
export interface ProcessMemory {
  readonly resident: number;
  /** What becomes free when the process ends. */
  readonly own: number;
}

export interface JobOutput<Event> {
  readonly key: JobKey;
  readonly events: readonly Event[];
}

/** The last event of a job. */
export interface JobEnd<Event> {
  readonly key: JobKey;
  readonly event: Event;
}

/** `report`: what the kind of engine reports about itself, for metrics. */
export type FromEngine<Ready, Event, Report = never> =
  | { readonly type: "progress"; readonly value: number }
  | { readonly type: "ready"; readonly ready: Ready }
  /** Loading failed: the process exits after this. The sentence is for the operator. */
  | { readonly type: "load-failed"; readonly message: string }
  /** A part of a content was received. */
  | { readonly type: "taken"; readonly key: JobKey }
  /** The job was checked and waits for its turn. A second acceptance, by a successor, is ignored. */
  | { readonly type: "accepted"; readonly key: JobKey; readonly event: Event; readonly report?: Report }
  /** Sent before the first computation for these jobs: from here on they are lost if the process dies. */
  | { readonly type: "started"; readonly keys: readonly JobKey[]; readonly report?: Report }
  /** One message per step, for all jobs. */
  | {
      readonly type: "events";
      readonly outputs: readonly JobOutput<Event>[];
      readonly finished: readonly JobEnd<Event>[];
      readonly report?: Report;
    }
  | ({ readonly type: "rejected"; readonly key: JobKey } & Refusal)
  | { readonly type: "report"; readonly report: Report }
  /** Sent every second; while a model loads, only when memory has grown. */
  | { readonly type: "memory"; readonly memory: ProcessMemory }
  | {
      readonly type: "log";
      readonly level: "debug" | "verbose" | "info" | "warn" | "error";
      readonly text: string;
      readonly fields?: Readonly<Record<string, string | number>>;
    };
