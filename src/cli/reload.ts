// SIGHUP: reads the configuration again and applies its upstreams. Other options need a restart.

import { closeSync, openSync, readFileSync } from "node:fs";
import { changedOptions } from "../config/changed-options.ts";
import type { Config } from "../config/config.ts";
import { UsageError } from "../config/parse.ts";
import type { Clock } from "../domain/clock.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Logger } from "../telemetry/log.ts";
import { exitCodes } from "./exit-codes.ts";
import { reconfigureGateway } from "./gateway.ts";
import { warnOfRequestLimit } from "./request-limit.ts";

/** Options that a reload applies. */
const APPLIED = ["upstream", "upstream-hedge", "upstream-timeout"];

interface ReloadDeps {
  /** The running configuration. */
  readonly config: Config;
  readonly upstreams: Gateway;
  readonly clock: Clock;
  readonly log: Logger;
  /** Reads the configuration again. Throws UsageError. */
  readonly reread: () => Config;
}

/** What SIGHUP does. */
interface HangupActions {
  /** Called when somebody asks for a reload. */
  readonly reload: () => void;
  /** Called when the terminal that svc was started in was closed. */
  readonly hangUp: () => void;
}

/**
 * Handles SIGHUP from now on, on systems that have this signal. Until the returned function is called with what it does,
 * the program ends with its terminal, and a reload is only noted, to follow then.
 */
export function handleHangup(): (actions: HangupActions) => void {
  // On Windows SIGHUP is sent only when the console closes, and the default action is right there.
  if (process.platform === "win32") return () => {};
  // nohup sets SIGHUP to be ignored: this must be read before a handler is installed.
  const endsWithTerminal = hasTerminal() && !ignoresHangup();
  let isReloadDue = false;
  let actions: HangupActions = {
    reload: () => (isReloadDue = true),
    hangUp: () => process.exit(exitCodes.interrupted.code),
  };
  process.on("SIGHUP", () => (endsWithTerminal && !hasTerminal() ? actions.hangUp() : actions.reload()));
  return (given) => {
    actions = given;
    if (isReloadDue) given.reload();
  };
}

/** Reads the configuration again and applies its upstreams; logs what does not take effect. */
export async function reload({ config: running, upstreams, clock, log, reread }: ReloadDeps): Promise<void> {
  try {
    const config = reread();
    await reconfigureGateway(upstreams, config, clock);
    const configured = upstreams.status().filter(({ isConfigured }) => isConfigured);
    const replicas = configured.flatMap((upstream) => upstream.replicas).length;
    log.info("upstreams reloaded", { upstreams: configured.map(({ name }) => name).join(","), replicas });
    const changed = changedOptions(running, config).filter((name) => !APPLIED.includes(name));
    if (changed.length > 0) log.warn("other changed options need a restart", { options: changed.join(",") });
    warnOfRequestLimit(config, log);
  } catch (error) {
    // The running upstreams stay as they are.
    const why = error instanceof UsageError ? error.message : String(error);
    log.error("the configuration cannot be reloaded", { why });
  }
}

/** Returns whether the process was started with SIGHUP ignored. Only Linux reports this; elsewhere false. */
export function ignoresHangup(): boolean {
  try {
    const [, ignored = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    // The lowest bit is that of signal 1.
    return (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    return false;
  }
}

/** Returns whether the process has a controlling terminal, which it loses when the window is closed. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
