// Keeps the unfinished jobs of one engine: which process has them, their progress, and what happens to them when they
// are cancelled or the process dies.

import type { CancelCause } from "../../domain/cancel.ts";
import { retryAfterSeconds, SvcError } from "../../domain/errors.ts";
import { PendingJob } from "./jobs.ts";
import type { FromEngine, JobKey, Refusal, ToEngine } from "./protocol.ts";
import type { Launch, SupervisorOptions } from "./supervisor-options.ts";

/** The present process, as far as jobs need it. */
interface JobProcess<Job> {
  /** Sends a message. Returns false when the process is ending. */
  send(message: Exclude<ToEngine<never, Job>, { readonly type: "load" }>): boolean;
  abort(key: JobKey): void;
}

interface PendingJobsOptions<Job, Event>
  extends
    Pick<
      SupervisorOptions<never, never, Event, never>,
      "mostUnread" | "abortGraceMs" | "placeFreeMs" | "neverComputed"
    >,
    Pick<Launch, "clock" | "loadTimeoutMs"> {
  readonly process: () => JobProcess<Job> | undefined;
  /** Called when the process did not end an aborted job in time and computes no other. */
  readonly onOverdue: () => void;
  /** Called when the last job is over. */
  readonly onIdle: () => void;
}

/** Milliseconds that an engine has to end a cancelled job: an engine that hangs never does. */
const CANCEL_GRACE_MS = 3000;

type Message<Event, Type> = Extract<FromEngine<never, Event, unknown>, { readonly type: Type }>;

export class PendingJobs<Job, Event extends {}> {
  private nextKey = 1;
  private readonly pending = new Map<JobKey, PendingJob<Job, Event>>();
  /** Aborted jobs that the process has not ended yet; the function stops the timer that would replace the process. */
  private readonly ending = new Map<JobKey, () => void>();
  /** Jobs whose next message is to be sent, in order. */
  private readonly due = new Set<PendingJob<Job, Event>>();
  /** Whether a message was sent in this turn of the event loop. */
  private hasSent = false;

  constructor(private readonly options: PendingJobsOptions<Job, Event>) {}

  get size(): number {
    return this.pending.size;
  }

  /** How many jobs are being computed. */
  get running(): number {
    let running = 0;
    for (const { progress } of this.pending.values()) if (progress === "started") running++;
    return running;
  }

  /** Creates a job without submitting it. `id`: by which it can be cancelled; empty for none. */
  create(id: string, job: Job, contents?: readonly Uint8Array[]): PendingJob<Job, Event> {
    return new PendingJob(this.options.clock, this.nextKey++, id, job, contents);
  }

  /** `isReady`: whether the process takes jobs now. */
  add(pending: PendingJob<Job, Event>, isReady: boolean): void {
    this.pending.set(pending.key, pending);
    if (isReady) this.submit(pending);
    else this.waitForModel(pending);
  }

  /** Submits the waiting jobs to a process that has become ready. */
  submitAll(): void {
    for (const pending of this.pending.values()) this.submit(pending);
  }

  /** Pauses a job with too many unread events, until some are read: they would otherwise fill the memory. */
  balance(pending: PendingJob<Job, Event>): void {
    const { mostUnread = Infinity } = this.options;
    const { size } = pending.events;
    const held = size > (pending.isHeld ? mostUnread / 2 : mostUnread);
    if (held === pending.isHeld) return;
    pending.isHeld = held;
    this.options.process()?.send({ type: "hold", key: pending.key, held });
  }

  /**
   * Ends the newest job of this id early: its last event comes, with what was computed. Returns false when none is left,
   * also if the last events of one that has ended are still unread.
   */
  cancel(id: string, cause: CancelCause): boolean {
    const pending = [...this.pending.values()].findLast((candidate) => candidate.id === id);
    if (!pending) return false;
    const { progress } = pending;
    if (progress !== "unsent") this.stopWork(pending, cause);
    if (progress === "unsent" || progress === "sent") this.endWithoutEngine(pending, cause);
    // Only the engine knows what it has computed.
    else pending.cancel(cause, CANCEL_GRACE_MS, () => this.endWithoutEngine(pending, cause));
    return true;
  }

  /** Stops the engine's work on a job whose consumer is gone or done: what is still computed would be wasted. */
  drop(pending: PendingJob<Job, Event>): void {
    if (!this.pending.has(pending.key)) return;
    if (pending.progress !== "unsent") this.stopWork(pending, "client");
    this.settle(pending);
  }

  failAll(error: SvcError): void {
    for (const pending of this.pending.values()) this.settle(pending, error);
  }

  /** Sends the next part: only one is in transit, to save memory and to let other messages in between. */
  taken({ key }: Message<Event, "taken">): void {
    const pending = this.pending.get(key);
    if (pending) this.submit(pending);
  }

  accepted({ key, event }: Message<Event, "accepted">): void {
    const pending = this.pending.get(key);
    if (!pending) return;
    pending.progress = "accepted";
    if (pending.isAcceptanceTold) return;
    pending.isAcceptanceTold = true;
    pending.events.push(event);
  }

  started({ keys }: Message<Event, "started">): void {
    for (const key of keys) {
      const pending = this.pending.get(key);
      pending?.started();
      // It began before the engine read that nobody wants it.
      if (!pending || pending.cancelled) this.abort(key);
    }
  }

  /** Returns true when a job ended that was still awaited. */
  emitted({ outputs, finished }: Message<Event, "events">): boolean {
    for (const { key, events } of outputs) {
      const pending = this.pending.get(key);
      for (const event of events) pending?.events.push(event);
      if (pending) this.balance(pending);
    }
    let ended = false;
    for (const { key, event } of finished) {
      this.ended(key);
      const pending = this.pending.get(key);
      if (!pending) continue;
      pending.events.push(event);
      this.settle(pending);
      ended = true;
    }
    return ended;
  }

  rejected({ key, code, message, param, busy }: { readonly key: JobKey } & Refusal): void {
    this.ended(key);
    const pending = this.pending.get(key);
    if (!pending) return;
    const details = {
      ...(param !== undefined && { param }),
      ...(busy && { busy }),
      ...(code === "server_busy" && { retryAfterSeconds: retryAfterSeconds(this.options.placeFreeMs?.() ?? 0) }),
    };
    this.settle(pending, new SvcError(code, message, details));
  }

  /**
   * Handles the death of the process. Started jobs are lost and fail with `crashed`; the others wait for the successor,
   * except the culprit and those that have survived too many deaths. An intended end does not count as a death.
   */
  lose(crashed: SvcError, culprit: JobKey | undefined, isIntended = false): void {
    const { due } = this;
    for (const pending of this.pending.values()) {
      if (pending.progress === "unsent") {
        if (due.has(pending)) this.waitForModel(pending);
      } else if (pending.cancelled) this.endWithoutEngine(pending, pending.cancelled);
      else if (pending.progress === "started" || pending.key === culprit || !(isIntended || pending.survives()))
        this.settle(pending, crashed);
      else this.waitForModel(pending);
    }
    due.clear();
  }

  /** Forgets the overdue jobs of a process that is gone. */
  forgetOverdue(): void {
    for (const key of this.ending.keys()) this.ended(key);
  }

  private waitForModel(pending: PendingJob<Job, Event>): void {
    const { loadTimeoutMs } = this.options;
    pending.waitForEngine(loadTimeoutMs, () => {
      const message = `The model is still loading after ${Math.round(loadTimeoutMs / 1000)} s of waiting.`;
      this.settle(pending, new SvcError("engine_unavailable", message, { retryAfterSeconds: 5 }));
    });
  }

  /** Sends one message per turn of the event loop: a large one takes dozens of milliseconds; hundreds may be due. */
  private submit(pending: PendingJob<Job, Event>): void {
    this.due.add(pending);
    if (!this.hasSent) this.sendNext();
  }

  private sendNext(): void {
    const [pending] = this.due;
    this.hasSent = pending !== undefined;
    if (!pending) return;
    this.due.delete(pending);
    setImmediate(() => this.sendNext());
    const message = pending.next();
    // A job that an ending process does not take waits for its successor.
    if (message && this.options.process()?.send(message)) pending.sent();
    else this.waitForModel(pending);
  }

  private stopWork({ key, progress }: PendingJob<Job, Event>, cause: CancelCause): void {
    this.options.process()?.send({ type: "cancel", key, cause });
    if (progress === "started") this.abort(key);
  }

  /** Interrupts the computation of a job; the process is replaced when it goes on for too long. */
  private abort(key: JobKey): void {
    this.options.process()?.abort(key);
    const { clock, abortGraceMs, onOverdue } = this.options;
    if (abortGraceMs === undefined || this.ending.has(key)) return;
    const expire = () => {
      const others = [...this.pending.values()].filter((other) => other.key !== key);
      // What the process computes for others would be lost with it.
      if (!others.some(({ progress }) => progress === "started")) onOverdue();
    };
    this.ending.set(key, clock.after(abortGraceMs, expire));
  }

  /** Called when the process reports the end of a job. */
  private ended(key: JobKey): void {
    this.ending.get(key)?.();
    this.ending.delete(key);
  }

  /** Ends a cancelled job that no engine has accepted or still has, or whose engine hangs. */
  private endWithoutEngine(pending: PendingJob<Job, Event>, cause: CancelCause): void {
    for (const event of this.options.neverComputed?.(cause, pending.isAcceptanceTold) ?? []) pending.events.push(event);
    this.settle(pending);
  }

  private settle(pending: PendingJob<Job, Event>, error?: SvcError): void {
    this.pending.delete(pending.key);
    this.due.delete(pending);
    pending.settle(error);
    if (this.pending.size === 0) this.options.onIdle();
  }
}
