// Structured log lines. Prompts and generated text never appear here, at any level.

import { jsonLine, textLine, type Render } from "./log-line.ts";
import { terminalLine } from "./terminal-line.ts";

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  /** What the engine and its libraries do, and requests that only look at the server. */
  debug(message: string, fields?: LogFields): void;
  /** What was decided about requests: admitted, preempted, computed from the cache. */
  verbose(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogLevel = keyof Logger;

/** The least important first. */
const LOG_LEVELS = ["debug", "verbose", "info", "warn", "error"] as const satisfies readonly LogLevel[];

/** Whether lines of a level are written where `least` is the least important one. */
export const isLogged = (level: LogLevel, least: LogLevel): boolean =>
  LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);

export interface LoggerOptions {
  /** Least important level that is written. */
  readonly level: LogLevel;
  /** `terminal`: for a person who watches, else for programs and files. */
  readonly format: "text" | "json" | "terminal";
  /** Of a terminal: whether it shows colours. */
  readonly colours?: boolean;
  /** Receives whole lines with their newline. */
  readonly write: (line: string) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
}

/** A logger that writes one line for each call. Fields without a value are left out. */
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
