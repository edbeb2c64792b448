// Jobs between the front process and an engine process: what was requested, how far it got, and the events it waits for.

import type { CancelCause } from "../../domain/cancel.ts";
import type { Timers } from "../../domain/clock.ts";
import { SvcError } from "../../domain/errors.ts";
import type { JobKey, Part, ToEngine } from "./protocol.ts";
import { EventQueue } from "./queue.ts";

/** `unsent`: no engine has it · `sent`: an engine has it, not computed yet · `started`: lost if the engine dies. */
type Progress = "unsent" | "sent" | "started";

/** Engines that may die while they hold a job untouched; with the last of them it may be the cause. */
const MOST_LIVES = 3;

/** Bytes of a content in one message: serializing them takes a few milliseconds. */
const PART_BYTES = 2 ** 20;

/** What takes a job to an engine. */
type Delivery<Job> = Extract<ToEngine<never, Job>, { readonly type: "part" | "submit" }>;

/** The first computation for a job begins: it does not wait any more. */
export interface Started {
  readonly type: "started";
}

/** A job whose computation gave no sign of life. */
export class HungError extends SvcError {
  constructor() {
    super("engine_crashed", "The model engine was ended: computing this request gave no sign of life.");
  }
}

export class PendingJob<Job, Event extends {}> {
  readonly events = new EventQueue<Event | Started>();
  progress: Progress = "unsent";
  /** Its acceptance was passed on. */
  accepted = false;
  /** The engine that has it now has accepted it, and sends its last event when it is cancelled. */
  isKnown = false;
  /** The engine leaves it until its events are read. */
  isHeld = false;
  /** Why it was cancelled, while its last event is awaited. */
  cancelled: CancelCause | undefined;
  /** What an engine is sent; nothing once one computes it: images and sound are large. */
  job: Job | undefined;
  /** What its engine has not been sent yet. */
  private delivery: Generator<Delivery<Job>, undefined> | undefined;
  private lives = MOST_LIVES;
  private stopTimer: (() => void) | undefined;

  constructor(
    private readonly clock: Timers,
    readonly key: JobKey,
    /** The id by which it is cancelled; empty: none. */
    readonly id: string,
    job: Job,
    /** Large bytes that it is about; they go before it. */
    private contents: readonly Uint8Array[] = [],
  ) {
    this.job = job;
  }

  /** What the engine is to be sent next; undefined: it has all. */
  next(): Delivery<Job> | undefined {
    this.delivery ??= this.deliver();
    return this.delivery.next().value;
  }

  /** Calls `expire` unless the job is sent or settled within `ms`. */
  waitForEngine(ms: number, expire: () => void): void {
    this.progress = "unsent";
    this.isKnown = false;
    this.delivery = undefined;
    this.setTimer(ms, expire);
  }

  /** Calls `expire` unless the last event comes within `ms`. */
  cancel(cause: CancelCause, ms: number, expire: () => void): void {
    this.cancelled = cause;
    this.setTimer(ms, expire);
  }

  sent(): void {
    this.stopTimer?.();
    this.progress = "sent";
  }

  /** The engine computes it: no other one will be sent it. */
  started(): void {
    this.progress = "started";
    this.job = this.delivery = undefined;
    this.contents = [];
    this.events.push({ type: "started" });
  }

  /** The engine died while holding this job untouched. False when it has been through that too often. */
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

/** At least one. */
function* partsOf(content: Uint8Array): Generator<Omit<Part, "index">> {
  const { length } = content;
  let from = 0;
  do {
    // A view would be sent with all that it is a view of.
    const bytes = new Uint8Array(content.subarray(from, from + PART_BYTES));
    yield { length, from, bytes };
    from += PART_BYTES;
  } while (from < length);
}
