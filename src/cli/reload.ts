// SIGHUP: the configuration is read again, and the upstreams become what it says now. Other options need a restart.

import { closeSync, openSync, readFileSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { UsageError } from "../config/parse.ts";
import type { Clock } from "../domain/clock.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Logger } from "../telemetry/log.ts";
import { reconfigureGateway } from "./gateway.ts";

interface ReloadDeps {
  readonly upstreams: Gateway;
  readonly clock: Clock;
  readonly log: Logger;
  /** Reads the configuration again. Throws UsageError. */
  readonly reread: () => Config;
  /** The terminal that svc was started in was closed. */
  readonly hangUp: () => void;
}

/** Answers SIGHUP from now on, where there is such a signal. */
export function reloadOnHangup({ upstreams, clock, log, reread, hangUp }: ReloadDeps): void {
  // On Windows it comes with the end of the console alone, and does what it does by itself.
  if (process.platform === "win32") return;
  // As nohup has it: before there is a handler.
  const endsWithTerminal = hasTerminal() && !ignoresHangup();
  const reload = async () => {
    try {
      await reconfigureGateway(upstreams, reread(), clock);
      const configured = upstreams.status().filter(({ isConfigured }) => isConfigured);
      const replicas = configured.flatMap((upstream) => upstream.replicas).length;
      log.info("upstreams reloaded", { upstreams: configured.map(({ name }) => name).join(","), replicas });
    } catch (error) {
      // What runs goes on as it was.
      const why = error instanceof UsageError ? error.message : String(error);
      log.error("the configuration cannot be reloaded", { why });
    }
  };
  process.on("SIGHUP", () => (endsWithTerminal && !hasTerminal() ? hangUp() : void reload()));
}

/** Whether whoever started the process had it ignore SIGHUP; only Linux says. */
export function ignoresHangup(): boolean {
  try {
    const [, ignored = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    // The first bit is signal 1's.
    return (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    return false;
  }
}

/** Whether the process belongs to a terminal, which is gone when its window is closed. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
