// Options of a supervisor: how processes are started, and what a kind of engine adds.

import type { CancelCause } from "../../domain/cancel.ts";
import type { Timers } from "../../domain/clock.ts";
import type { GpuClaim } from "../../domain/gpu.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { MemoryBudget } from "./memory-budget.ts";

/** Settings that all engine processes of this server share. */
export interface Launch {
  /** Returns the program and arguments that run this binary as an engine of this kind. */
  readonly command: (kind: string) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Milliseconds that a request waits for a model that is loading. */
  readonly loadTimeoutMs: number;
  /** Milliseconds of silence, or of loading without progress, before a process is killed and replaced; 0: never. */
  readonly engineTimeoutMs: number;
  readonly log: Logger;
  readonly clock: Timers;
  /** The memory budget of all engines that are loaded on first use. */
  readonly memory: MemoryBudget;
  /** Returns the processor time that a process has used, in milliseconds; absent: as the system reports it. */
  readonly processorMs?: (pid: number) => number | undefined;
}

export interface SupervisorOptions<Options, Ready, Event, Report> {
  readonly kind: string;
  /** The model's name, for the log. */
  readonly model: string;
  /** Returns what the engine process is to load; called before every start. When it throws, requests are refused. */
  readonly load: () => Options;
  /**
   * Fetches what is to be loaded, before every start of a process except an eager engine's first; returns undefined
   * when nothing is missing. When it throws or rejects, with an SvcError, requests are refused with that error, and an
   * eager engine tries again by itself. `signal`: aborted when the engine is stopped.
   */
  readonly prepare?: (signal: AbortSignal) => Promise<void> | undefined;
  readonly launch: Launch;
  /** `eager`: `start()` loads the model for good · `lazy`: the first request loads it, and it is unloaded when idle. */
  readonly start: "eager" | "lazy";
  /** Milliseconds without a job after which a lazy engine is unloaded; 0: only when another engine needs its memory. */
  readonly idleMs: number;
  /** Least bytes that the model of a lazy engine needs; default 0: it is loaded however little memory is free. */
  readonly needBytes?: number;
  /** How much of them GPUs hold; absent: nothing. */
  readonly onGpus?: GpuClaim;
  /** Files of the model, which are logged when they were replaced before a process loads them again. */
  readonly files?: readonly string[];
  /** Milliseconds for which a healthy computation may be silent; default 0: native code reports that it is alive. */
  readonly quietMs?: number;
  /** Unread events of a job before the engine pauses it; default: no limit. */
  readonly mostUnread?: number;
  /** Milliseconds that the process has to end in order; default 2 s. */
  readonly stopGraceMs?: number;
  /**
   * Milliseconds in which the process must end a job that was aborted while being computed, with its last event or a
   * refusal. Else it is replaced, unless it computes other jobs, too. Absent: computations end when aborted.
   */
  readonly abortGraceMs?: number;
  /**
   * Milliseconds of silent computing, in processor time, after which the job ends with HungError and the process is
   * replaced: the job is at fault. For any other silence the process is at fault, after `engineTimeoutMs`. With
   * `engineTimeoutMs` 0 neither applies.
   */
  readonly longestSilenceMs?: number;
  readonly onReady?: (ready: Ready) => void;
  readonly onReport?: (report: Report) => void;
  /** Called when the process is gone: what it counted has ended. */
  readonly onExit?: () => void;
  /** Returns the milliseconds until a place is free, for `Retry-After` of refused requests. */
  readonly placeFreeMs?: () => number | undefined;
  /** Returns the last events of a job that is cancelled while no engine has it, or whose engine hangs. */
  readonly neverComputed?: (cause: CancelCause, accepted: boolean) => readonly Event[];
}
