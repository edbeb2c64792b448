// What a supervisor is made with: how processes are started, and what a kind of engine adds.

import type { CancelCause } from "../../domain/cancel.ts";
import type { Timers } from "../../domain/clock.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { MemoryBudget } from "./memory-budget.ts";

/** What every engine process of this server is started with. */
export interface Launch {
  /** Program and arguments that turn this binary into an engine, by the kind's name. */
  readonly command: (kind: string) => readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How long a request waits for a model that is loading. */
  readonly loadTimeoutMs: number;
  /** Silence in milliseconds, or a load without progress, after which a process is killed and replaced; 0: never. */
  readonly engineTimeoutMs: number;
  readonly log: Logger;
  readonly clock: Timers;
  /** Of all engines that are loaded on first use. */
  readonly memory: MemoryBudget;
  /** Milliseconds of processor time that a process has had; absent: as the system says. */
  readonly processorMs?: (pid: number) => number | undefined;
}

export interface SupervisorOptions<Options, Ready, Event, Report> {
  readonly kind: string;
  /** The model's name, for the log. */
  readonly model: string;
  /** What the engine process is to load; called whenever one is started. Where it throws, requests are refused. */
  readonly load: () => Options;
  /**
   * Brings what is to be loaded, before a process is started, but for an eager engine's first; undefined: it is there. Where it
   * throws or rejects, with an SvcError, requests are refused with that, and an eager engine is tried again by itself. `signal`: the
   * engine is stopped.
   */
  readonly prepare?: (signal: AbortSignal) => Promise<void> | undefined;
  readonly launch: Launch;
  /** `eager`: `start()` loads the model, which stays · `lazy`: the first request does, and it leaves when it is idle. */
  readonly start: "eager" | "lazy";
  /** Milliseconds without a job after which a lazy engine is unloaded; 0: when another one needs its memory. */
  readonly idleMs: number;
  /** Bytes that the model of a lazy engine takes at least; default 0: it is loaded whatever is free. */
  readonly needBytes?: number;
  /** Milliseconds for which a computation may keep it from any sign of life; default 0: native code reports that it is alive. */
  readonly quietMs?: number;
  /** Events of a job that may wait for their reader, before the engine holds it; default: any number. */
  readonly mostUnread?: number;
  /** Milliseconds that the process has to end in order; default 2 s. */
  readonly stopGraceMs?: number;
  /**
   * Milliseconds in which the process must end a job that was aborted while it was computed, with its last event or a refusal,
   * or else it is replaced, unless it computes others, too. Absent: its computations end when they are aborted.
   */
  readonly abortGraceMs?: number;
  /**
   * Milliseconds of computing in silence, on a processor, after which the job ends with HungError and the process is replaced:
   * it is the job's fault. What is silent otherwise is the process's, after `engineTimeoutMs`, which 0 switches off in either
   * case.
   */
  readonly longestSilenceMs?: number;
  readonly onReady?: (ready: Ready) => void;
  readonly onReport?: (report: Report) => void;
  /** The process is gone: what it counted has ended. */
  readonly onExit?: () => void;
  /** Milliseconds until a place is free, for those that are turned away. */
  readonly placeFreeMs?: () => number | undefined;
  /** The events with which a job ends that is cancelled while no engine has it, or one that stands still. */
  readonly neverComputed?: (cause: CancelCause, accepted: boolean) => readonly Event[];
}
