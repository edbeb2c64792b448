// A job between the front process and an engine process: what was requested, its progress, and the events it waits for.

import type { CancelCause } from "../../domain/cancel.ts";
import type { Timers } from "../../domain/clock.ts";
import { SvcError } from "../../domain/errors.ts";
import type { JobKey, Part, ToEngine } from "./protocol.ts";
import { EventQueue } from "./queue.ts";

/**
 * `unsent`: no engine has it · `sent`: an engine has it · `accepted`: that engine sends its last event even when it is
 * cancelled · `started`: it is computed, and lost if the engine dies.
 */
type Progress = "unsent" | "sent" | "accepted" | "started";

/** How many engines may die while they hold a job that has not started; after the last one the job may be the cause. */
const MOST_LIVES = 3;

/** Bytes of a content in one message: serializing that many takes a few milliseconds. */
const PART_BYTES = 2 ** 20;

/** The messages that bring a job to an engine. */
type Delivery<Job> = Extract<ToEngine<never, Job>, { readonly type: "part" | "submit" }>;

/** The first computation for the job begins: its waiting time ends. */
export interface Started {
  readonly type: "started";
}

/** The error of a job whose computation gave no sign of life. */
export class HungError extends SvcError {
  constructor() {
    super("engine_crashed", "The model engine was ended: computing this request gave no sign of life.");
  }
}

export class PendingJob<Job, Event extends {}> {
  readonly events = new EventQueue<Event | Started>();
  progress: Progress = "unsent";
  /** Whether its acceptance was passed on. */
  isAcceptanceTold = false;
  /** Whether the engine pauses it until its events are read. */
  isHeld = false;
  /** Why it was cancelled; set while its last event is awaited. */
  cancelled: CancelCause | undefined;
  /** What is sent to an engine; undefined once an engine computes it, because images and sound are large. */
  job: Job | undefined;
  /** The messages that its engine has not been sent yet. */
  private delivery: Generator<Delivery<Job>, undefined> | undefined;
  private lives = MOST_LIVES;
  private stopTimer: (() => void) | undefined;

  constructor(
    private readonly clock: Timers,
    readonly key: JobKey,
    /** The id by which it can be cancelled; empty if there is none. */
    readonly id: string,
    job: Job,
    /** Large binary contents of the job; they are sent before it. */
    private contents: readonly Uint8Array[] = [],
  ) {
    this.job = job;
  }

  /** Returns the next message for the engine; undefined when it has been sent all. */
  next(): Delivery<Job> | undefined {
    this.delivery ??= this.deliver();
    return this.delivery.next().value;
  }

  /** Makes the job unsent again; calls `expire` unless it is sent or settled within `ms`. */
  waitForEngine(ms: number, expire: () => void): void {
    this.progress = "unsent";
    this.delivery = undefined;
    this.setTimer(ms, expire);
  }

  /** Marks the job as cancelled; calls `expire` unless its last event comes within `ms`. */
  cancel(cause: CancelCause, ms: number, expire: () => void): void {
    this.cancelled = cause;
    this.setTimer(ms, expire);
  }

  sent(): void {
    this.stopTimer?.();
    this.progress = "sent";
  }

  /** The engine computes the job: it is never sent to another engine. */
  started(): void {
    this.progress = "started";
    this.job = this.delivery = undefined;
    this.contents = [];
    this.events.push({ type: "started" });
  }

  /** Counts a death of the engine while it held this job unstarted. Returns false when that has happened too often. */
  survives(): boolean {
    return --this.lives > 0;
  }

  settle(error?: SvcError): void {
    this.stopTimer?.();
    if (error) this.events.fail(error);
    else this.events.end();
  }

  private *deliver(): Generator<Delivery<Job>, undefined> {
    const { key, job } = this;
    for (const [index, content] of this.contents.entries()) {
      for (const part of partsOf(content)) yield { type: "part", key, index, ...part };
    }
    if (job !== undefined) yield { type: "submit", key, job };
  }

  private setTimer(ms: number, act: () => void): void {
    this.stopTimer?.();
    this.stopTimer = this.clock.after(ms, act);
  }
}

/** Yields at least one part, even for empty content. */
function* partsOf(content: Uint8Array): Generator<Omit<Part, "index">> {
  const { length } = content;
  let from = 0;
  do {
    // Copied, because serializing a view would send its whole buffer.
    const bytes = new Uint8Array(content.subarray(from, from + PART_BYTES));
    yield { length, from, bytes };
    from += PART_BYTES;
  } while (from < length);
}
