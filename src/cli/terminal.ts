// Standard error: whether a person watches it, and what is shown there beside the log.

import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { isLogged } from "../telemetry/log.ts";
import type { ProgressOptions } from "./progress-line.ts";

/** Nothing but warnings is wanted. */
export const isQuiet = ({ logLevel }: Pick<Config, "logLevel">): boolean => !isLogged("info", logLevel);

/** Whether lines can be drawn over. */
export const isTerminal = (): boolean => process.stderr.isTTY && processEnvironment()["TERM"] !== "dumb";

/** Whether a terminal shows colours, and its user wants them (NO_COLOR). */
export const hasColours = (): boolean => isTerminal() && process.stderr.hasColors();

/** What a line that is drawn over is removed with: the cursor is at its start. */
export const CLEAR_LINE = "\x1b[K";

/** Where progress is shown, and in which form. */
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
