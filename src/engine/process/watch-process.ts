// How an engine's process is watched: what its kind may be silent for, what the log says, and when it is given up.

import { readFileSync } from "node:fs";
import type { EngineProcess } from "./process.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";
import { Watchdog } from "./watchdog.ts";

/** Signs of life come once a second, and later on a busy machine. */
const LEAST_TIMEOUT_MS = 5000;

interface WatchedProcess {
  /** False while it loads: no job stands still with it then. */
  isReady(): boolean;
  /** It has computed in silence for too long. */
  onHung(): void;
  /** It is silent for too long; `hang` says how, as in "The engine process …". */
  onSilent(hang: string): void;
}

/** Watches a process from now on, until the watchdog is stopped. */
export function watchProcess(
  process: Pick<EngineProcess<unknown, unknown>, "pid" | "pulse">,
  options: Pick<
    SupervisorOptions<never, never, unknown, never>,
    "kind" | "model" | "launch" | "quietMs" | "longestSilenceMs"
  >,
  { isReady, onHung, onSilent }: WatchedProcess,
): Watchdog {
  const { kind, model, launch, quietMs = 0, longestSilenceMs = Infinity } = options;
  const { clock, engineTimeoutMs, log, processorMs = processorTime } = launch;
  const limitMs = engineTimeoutMs && Math.max(engineTimeoutMs, LEAST_TIMEOUT_MS);
  const warn = (message: string, silentMs: number, work = "") =>
    log.warn(message, { kind, model, silent_ms: silentMs, ...(work && { work }) });
  const watchdog = new Watchdog({
    clock,
    quietMs,
    limitMs,
    get longestComputingMs() {
      return limitMs > 0 && isReady() ? longestSilenceMs : Infinity;
    },
    processorMs: () => (longestSilenceMs < Infinity ? processorMs(process.pid) : undefined),
    pulse: () => process.pulse(),
    onStalled: () => isReady() && warn("engine stalled", watchdog.silentMs, watchdog.work),
    onRecovered: (silentMs) => isReady() && warn("engine is back", silentMs),
    onTimeout: (hasComputed) => {
      const { silentMs, work } = watchdog;
      if (hasComputed) {
        warn("engine process ended with what it computed", silentMs);
        return onHung();
      }
      const time = `for ${Math.round(silentMs / 1000)} s`;
      const silence = `gave no sign of life ${time}${work && ` (${work})`}`;
      onSilent(isReady() ? silence : `made no progress ${time} while loading`);
    },
  });
  return watchdog;
}

/** As Linux counts it everywhere: a hundredth of a second. */
const TICK_MS = 10;

/** Milliseconds that all threads of a process have computed; undefined where the system does not say: only Linux has it. */
function processorTime(pid: number): number | undefined {
  try {
    // The name of the program, which may hold anything, ends with the last bracket.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
