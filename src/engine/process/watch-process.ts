// Decides how an engine's process is watched: how long it may be silent, what is logged, and when it is given up.

import { readText } from "./machine.ts";
import type { EngineProcess } from "./process.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";
import { Watchdog } from "./watchdog.ts";

/** Lower bound of the timeout: signs of life come once a second, and later on a busy machine. */
const LEAST_TIMEOUT_MS = 5000;

interface WatchedProcess {
  /** False while it loads: no job is stalled then. */
  isReady(): boolean;
  /** Called when it has computed in silence for too long. */
  onHung(): void;
  /** Called when it was silent for too long; `hang` says how, to complete "The engine process …". */
  onSilent(hang: string): void;
}

/** Watches a process from now on until the watchdog is stopped. */
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
    onRecovered: (silentMs) => isReady() && warn("engine recovered", silentMs),
    onTimeout: (hasComputed) => {
      const { silentMs, work } = watchdog;
      if (hasComputed) {
        warn("engine process killed: one computation took too long", silentMs);
        return onHung();
      }
      const time = `for ${Math.round(silentMs / 1000)} s`;
      const silence = `gave no sign of life ${time}${work && ` (${work})`}`;
      onSilent(isReady() ? silence : `made no progress ${time} while loading`);
    },
  });
  return watchdog;
}

/** Milliseconds in one clock tick, in which Linux counts processor time: a hundredth of a second on all systems. */
const TICK_MS = 10;

/** Returns the processor time of a process in milliseconds, all threads together; undefined except on Linux. */
function processorTime(pid: number): number | undefined {
  // The program's name may contain anything; it ends at the last closing bracket.
  const [user, kernel] = readText(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ").slice(11, 13) ?? [];
  return kernel === undefined ? undefined : (Number(user) + Number(kernel)) * TICK_MS;
}
