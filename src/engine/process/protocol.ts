// The messages between the front process and an engine process of any kind. Both ends are the same binary, so the
// version only catches a stale process; adding a message is a version bump.

import type { CancelCause } from "../../domain/cancel.ts";
import type { BusyReason, ErrorCode } from "../../domain/errors.ts";

export const PROTOCOL_VERSION = 15;

/**
 * File descriptor in the engine process on which the front process requests aborts: one 4-byte key each. Native code reports
 * on it, a line a second, whether a computation has moved on (`+` or `-`) and what it is; and before it ends the process
 * because of one job, `!` and its key.
 */
export const ABORT_FD = 3;

/** Numbers a job within one front process; never reused. */
export type JobKey = number;

export type ToEngine<Options, Job> =
  | { readonly type: "load"; readonly version: number; readonly options: Options }
  | { readonly type: "submit"; readonly key: JobKey; readonly job: Job }
  /** Part of a content of a job that is submitted when all of them are there. The next part follows `taken`. */
  | ({ readonly type: "part"; readonly key: JobKey } & Part)
  /** With cause `client` nobody reads the outcome: none needs to be sent. */
  | { readonly type: "cancel"; readonly key: JobKey; readonly cause: CancelCause }
  /** Its reader is behind, or has caught up. */
  | { readonly type: "hold"; readonly key: JobKey; readonly held: boolean };

/** Some bytes of a content that is too large for one message, which would hold up all others. */
export interface Part {
  /** Which of the job's contents, from 0, and its bytes. */
  readonly index: number;
  readonly length: number;
  /** Where these begin in it. */
  readonly from: number;
  readonly bytes: Uint8Array;
}

/** Why a job is not computed. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** The request field at fault; absent: nothing is wrong with the request. */
  readonly param?: string;
  /** With `server_busy`. */
  readonly busy?: BusyReason;
}

/** In bytes. */
export interface ProcessMemory {
  readonly resident: number;
  /** Free when the process ends. */
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

/** `report`: what the kind of engine says of itself, for metrics. */
export type FromEngine<Ready, Event, Report = never> =
  | { readonly type: "progress"; readonly value: number }
  | { readonly type: "ready"; readonly ready: Ready }
  /** Loading failed: the process exits after this. The sentence is for the operator. */
  | { readonly type: "load-failed"; readonly message: string }
  /** A part of a content has come. */
  | { readonly type: "taken"; readonly key: JobKey }
  /** The job was checked and waits for its turn. A successor's second acceptance is dropped. */
  | { readonly type: "accepted"; readonly key: JobKey; readonly event: Event; readonly report?: Report }
  /** Sent before the first computation for these jobs: should the process die from here on, they are lost. */
  | { readonly type: "started"; readonly keys: readonly JobKey[]; readonly report?: Report }
  /** One message a step, for all jobs. */
  | {
      readonly type: "events";
      readonly outputs: readonly JobOutput<Event>[];
      readonly finished: readonly JobEnd<Event>[];
      readonly report?: Report;
    }
  | ({ readonly type: "rejected"; readonly key: JobKey } & Refusal)
  | { readonly type: "report"; readonly report: Report }
  /** Each second, while a model loads only when it has grown. */
  | { readonly type: "memory"; readonly memory: ProcessMemory }
  | {
      readonly type: "log";
      readonly level: "debug" | "verbose" | "info" | "warn" | "error";
      readonly text: string;
      readonly fields?: Readonly<Record<string, string | number>>;
    };
