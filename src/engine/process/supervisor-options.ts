// What a supervisor is made with: how processes are started, and what a kind of engine adds.

import type { CancelCause } from "../../domain/cancel.ts";
import type { Timers } from "../../domain/clock.ts";
import type { Logger } from "../../telemetry/log.ts";

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
}

export interface SupervisorOptions<Options, Ready, Event, Report> {
  readonly kind: string;
  /** The model's name, for the log. */
  readonly model: string;
  /** What the engine process is to load; called whenever one is started. Where it throws, requests are refused. */
  readonly load: () => Options;
  /**
   * Brings what is to be loaded, before a process is started; undefined: it is there. Where it throws or rejects, with an SvcError,
   * requests are refused with that.
   */
  readonly prepare?: () => Promise<void> | undefined;
  readonly launch: Launch;
  /** `eager`: `start()` loads the model, which stays · `lazy`: the first request does, and it leaves when it is idle. */
  readonly start: "eager" | "lazy";
  /** Milliseconds without a job after which a lazy engine is unloaded; 0: never. */
  readonly idleMs: number;
  /** Milliseconds for which a computation may keep it from any sign of life; default 0: native code tells of itself. */
  readonly quietMs?: number;
  /** Events of a job that may wait for their reader, until the engine is told to hold it; default: any number. */
  readonly mostUnread?: number;
  /** Milliseconds that the process has to end in order; default 2 s. */
  readonly stopGraceMs?: number;
  /**
   * Milliseconds in which the process must end a job that was aborted while it was computed, with its last event or a refusal,
   * or else it is replaced. Absent: its computations end when they are told to.
   */
  readonly abortGraceMs?: number;
  /**
   * Milliseconds of silence of a computation after which its job ends with HungError and the process is replaced: it is the
   * job's fault. Absent: it is the process's, after `engineTimeoutMs`, which 0 switches off in either case.
   */
  readonly longestSilenceMs?: number;
  readonly onReady?: (ready: Ready) => void;
  readonly onReport?: (report: Report) => void;
  /** The process is gone: what it counted has ended. */
  readonly onExit?: () => void;
  /** Milliseconds until a place is free, for those that are turned away. */
  readonly placeFreeMs?: () => number | undefined;
  /** The events of a job that is cancelled while no engine has it. */
  readonly neverComputed?: (cause: CancelCause, accepted: boolean) => readonly Event[];
}
