// Structured log lines. Prompts and generated text never appear here, at any level.

import { jsonLine, textLine, type Render } from "./log-line.ts";
import { terminalLine } from "./terminal-line.ts";

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  /** For what the engine and its libraries do, and for requests that only inspect the server. */
  debug(message: string, fields?: LogFields): void;
  /** For decisions: about requests (admitted, preempted, prefix cached), and which engines are in memory. */
  verbose(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogLevel = keyof Logger;

/** Log levels, the least important first. */
const LOG_LEVELS = ["debug", "verbose", "info", "warn", "error"] as const satisfies readonly LogLevel[];

/** Returns whether lines of `level` are written when `least` is the minimum level. */
export const isLogged = (level: LogLevel, least: LogLevel): boolean =>
  LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);

export interface LoggerOptions {
  /** Minimum level of lines to write. */
  readonly level: LogLevel;
  /** `terminal` is for people; the others are for programs and files. */
  readonly format: "text" | "json" | "terminal";
  /** Whether the terminal shows colours. */
  readonly colours?: boolean;
  /** Receives whole lines, including the newline. */
  readonly write: (line: string) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
}

/** Returns a logger that writes one line per call. Fields without a value are omitted. */
export function createLogger({ level, format, colours = false, write, now }: LoggerOptions): Logger {
  const renders = {
    json: jsonLine,
    text: textLine,
    terminal: terminalLine({ colours, ids: isLogged("verbose", level) }),
  } as const;
  const render: Render = renders[format];
  const at = (importance: LogLevel) =>
    isLogged(importance, level)
      ? (message: string, fields: LogFields = {}) => write(render(new Date(now()), importance, message, fields))
      : () => {};
  return { debug: at("debug"), verbose: at("verbose"), info: at("info"), warn: at("warn"), error: at("error") };
}
