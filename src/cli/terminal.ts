// Standard error: whether a person watches it, and how errors and progress are shown there beside the log.

import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { createLogger, isLogged } from "../telemetry/log.ts";
import { withoutControls } from "../telemetry/log-line.ts";
import type { ProgressOptions } from "./progress-line.ts";

/** Returns whether the log level hides messages of level info. */
export const isQuiet = ({ logLevel }: Pick<Config, "logLevel">): boolean => !isLogged("info", logLevel);

/** Returns whether lines can be redrawn. */
export const isTerminal = (): boolean => process.stderr.isTTY && processEnvironment()["TERM"] !== "dumb";

/** Returns whether the terminal shows colours and its user wants them (NO_COLOR). */
export const hasColours = (): boolean => isTerminal() && process.stderr.hasColors();

/** Clears a redrawn line; the cursor must be at its start. */
export const CLEAR_LINE = "\x1b[K";

/** Writes an error in the log's format, at any log level. */
export const writeError = (message: string, format: Config["logFormat"]): void => tell("error", message, format);

/** Writes a warning in the log's format, unless the log level hides it. */
export function writeWarning(message: string, { logFormat, logLevel }: Pick<Config, "logFormat" | "logLevel">): void {
  if (isLogged("warn", logLevel)) tell("warn", message, logFormat);
}

function tell(level: "warn" | "error", message: string, format: Config["logFormat"]): void {
  const write = (line: string) => void process.stderr.write(line);
  // Messages may have names of other programs, and several lines.
  if (format === "text") write(`svc: ${message.split("\n").map(withoutControls).join("\n")}\n`);
  else createLogger({ level, format, write, now: Date.now })[level](message);
}

/** Returns where and in which format progress is shown. */
export function progressOutput(
  config: Pick<Config, "logFormat" | "logLevel">,
): Pick<ProgressOptions, "out" | "format"> {
  const { stderr } = process;
  const out = {
    isTTY: isTerminal(),
    get columns() {
      return stderr.columns;
    },
    write: (text: string) => isQuiet(config) || stderr.write(text),
  };
  return { out, format: config.logFormat };
}
