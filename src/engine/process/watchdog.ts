// Notices that an engine process stands still: it was stopped, or a call in it does not end. Whatever is heard of it is a
// sign of life; a healthy one is heard about once a second, also in the middle of a long computation.

import type { Timers } from "../../domain/clock.ts";

const TICK_MS = 1000;
/** Silence after which an engine is said to be stalled; half of the limit, where that is less. */
const STALLED_MS = 10_000;
/** The longest `Retry-After` for clients of a stalled engine. */
const RETRY_MS = 10_000;

/** What native code reported of itself since the last look. */
export interface Pulse {
  /** A computation has moved on. */
  readonly moved: boolean;
  /** What is being computed; empty: nothing. */
  readonly work: string;
}

interface WatchdogOptions {
  readonly clock: Timers;
  /** Milliseconds of silence after which the process is given up; 0: never. */
  readonly limitMs: number;
  /** Milliseconds for which a healthy one may be silent in a computation. */
  readonly quietMs: number;
  /** Milliseconds of a silent computation after which what it computes is given up. */
  readonly longestComputingMs: number;
  /** Milliseconds of processor time that the process has had; undefined: the system does not say. */
  readonly processorMs: () => number | undefined;
  /** Called once a second; undefined: nothing was reported. */
  readonly pulse: () => Pulse | undefined;
  readonly onStalled: () => void;
  /** It is heard again after so many milliseconds. */
  readonly onRecovered: (silentMs: number) => void;
  /** Called once, with whether it computed for too long; nothing that is heard after it is a sign of life. */
  readonly onTimeout: (hasComputed: boolean) => void;
}

export class Watchdog {
  /** What was being computed when it was last heard. */
  work = "";
  /** Since when it is stalled, in milliseconds since 1970; undefined: it is not. */
  stalledSince: number | undefined;
  private silent = 0;
  /** Of the silence, what the process had a processor for. */
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

  get silentMs(): number {
    return this.silent;
  }

  /** Milliseconds after which a client may come back to an engine that is stalled. */
  get retryMs(): number {
    const { limitMs, quietMs } = this.options;
    return limitMs === 0 ? RETRY_MS : Math.min(RETRY_MS, quietMs + limitMs - this.silent);
  }

  /** A sign of life. */
  heard(): void {
    // What is killed may have said something on its way out.
    if (this.gaveUp) return;
    const { silent } = this;
    this.silent = this.computing = 0;
    this.looked = this.options.clock.now();
    if (this.stalledSince === undefined) return;
    this.stalledSince = undefined;
    this.options.onRecovered(silent);
  }

  /** The process is gone, or about to. */
  stop(): void {
    this.cancel();
  }

  private readonly tick = (): void => {
    const { clock, limitMs, longestComputingMs, quietMs, pulse, onStalled, onTimeout } = this.options;
    const now = clock.now();
    // Time in which this process stood still itself, or the whole machine did, says nothing about the other.
    const passed = Math.min(now - this.looked, TICK_MS);
    this.silent += passed;
    // On a busy machine a computation may take ten times as long, and that is not its fault.
    this.computing += Math.min(passed, this.computed() ?? passed);
    this.looked = now;
    const { moved, work = this.work } = pulse() ?? {};
    this.work = work;
    if (moved) this.heard();
    const stalledMs = quietMs + (limitMs === 0 ? STALLED_MS : Math.min(STALLED_MS, limitMs / 2));
    if (this.silent >= stalledMs && this.stalledSince === undefined) {
      this.stalledSince = clock.wall() - this.silent;
      onStalled();
    }
    const hasComputed = this.computing >= longestComputingMs;
    this.gaveUp = hasComputed || (limitMs > 0 && this.silent >= quietMs + limitMs);
    if (this.gaveUp) return onTimeout(hasComputed);
    this.cancel = clock.after(TICK_MS, this.tick);
  };

  /** Milliseconds of processor time since the last call, if that is known. */
  private computed(): number | undefined {
    const before = this.processorMs;
    this.processorMs = this.options.processorMs();
    return before === undefined || this.processorMs === undefined ? undefined : this.processorMs - before;
  }
}
