// Notices that an engine process hangs: it was stopped, or a call in it does not return. Every message from it is a
// sign of life; a healthy process gives one about every second, even during a long computation.

import type { Timers } from "../../domain/clock.ts";

const TICK_MS = 1000;
/** Milliseconds of silence after which an engine counts as stalled; half of the limit if that is less. */
const STALLED_MS = 10_000;
/** Longest `Retry-After` for clients of a stalled engine, in milliseconds. */
const RETRY_MS = 10_000;

/** What native code has reported since the last check. */
export interface Pulse {
  /** Whether a computation has moved on. */
  readonly moved: boolean;
  /** What is being computed; empty if nothing is. */
  readonly work: string;
}

interface WatchdogOptions {
  readonly clock: Timers;
  /** Milliseconds of silence after which the process is given up; 0: never. */
  readonly limitMs: number;
  /** Milliseconds for which a healthy process may be silent during a computation. */
  readonly quietMs: number;
  /** Milliseconds of silent computation after which what it computes is given up. */
  readonly longestComputingMs: number;
  /** Returns the processor time of the process in milliseconds; undefined where the system does not report it. */
  readonly processorMs: () => number | undefined;
  /** Called once a second; returns undefined when nothing was reported. */
  readonly pulse: () => Pulse | undefined;
  readonly onStalled: () => void;
  /** Called at the first sign of life after a stall, with the milliseconds of silence. */
  readonly onRecovered: (silentMs: number) => void;
  /** Called once, with whether it computed for too long; later messages are not signs of life. */
  readonly onTimeout: (hasComputed: boolean) => void;
}

export class Watchdog {
  /** What was being computed at the last sign of life. */
  work = "";
  /** Start of the stall in milliseconds since 1970; undefined while it is not stalled. */
  stalledSince: number | undefined;
  /** Milliseconds since the last sign of life. */
  silentMs = 0;
  /** The part of the silence in which the process had a processor. */
  private computing = 0;
  private processorMs: number | undefined;
  private gaveUp = false;
  private looked: number;
  private cancel: () => void;

  constructor(private readonly options: WatchdogOptions) {
    this.looked = options.clock.now();
    this.processorMs = options.processorMs();
    this.cancel = options.clock.after(TICK_MS, this.tick);
  }

  /** Returns the milliseconds after which clients may try a stalled engine again. */
  get retryMs(): number {
    const { limitMs, quietMs } = this.options;
    return limitMs === 0 ? RETRY_MS : Math.min(RETRY_MS, quietMs + limitMs - this.silentMs);
  }

  /** Records a sign of life. */
  heard(): void {
    // A process that is being killed may still have sent something.
    if (this.gaveUp) return;
    const { silentMs } = this;
    this.silentMs = this.computing = 0;
    this.looked = this.options.clock.now();
    if (this.stalledSince === undefined) return;
    this.stalledSince = undefined;
    this.options.onRecovered(silentMs);
  }

  /** Stops watching: the process is gone, or about to be. */
  stop(): void {
    this.cancel();
  }

  private readonly tick = (): void => {
    const { clock, limitMs, longestComputingMs, quietMs, pulse, onStalled, onTimeout } = this.options;
    const now = clock.now();
    // Time in which this process or the whole machine stood still says nothing about the other process.
    const passed = Math.min(now - this.looked, TICK_MS);
    this.silentMs += passed;
    // On a busy machine a computation may take ten times as long, which is not its fault.
    this.computing += Math.min(passed, this.computed() ?? passed);
    this.looked = now;
    const { moved, work = this.work } = pulse() ?? {};
    this.work = work;
    if (moved) this.heard();
    const stalledMs = quietMs + (limitMs === 0 ? STALLED_MS : Math.min(STALLED_MS, limitMs / 2));
    if (this.silentMs >= stalledMs && this.stalledSince === undefined) {
      this.stalledSince = clock.wall() - this.silentMs;
      onStalled();
    }
    const hasComputed = this.computing >= longestComputingMs;
    this.gaveUp = hasComputed || (limitMs > 0 && this.silentMs >= quietMs + limitMs);
    if (this.gaveUp) return onTimeout(hasComputed);
    this.cancel = clock.after(TICK_MS, this.tick);
  };

  /** Returns the milliseconds of processor time since the last call, where they are known. */
  private computed(): number | undefined {
    const before = this.processorMs;
    this.processorMs = this.options.processorMs();
    return before === undefined || this.processorMs === undefined ? undefined : this.processorMs - before;
  }
}
