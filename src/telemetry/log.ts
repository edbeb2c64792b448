// Structured log lines. Prompts and generated text never appear here, at any level.

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogLevel = keyof Logger;

export interface LoggerOptions {
  /** Least important level that is written. */
  readonly level: LogLevel;
  readonly format: "text" | "json";
  /** Receives whole lines with their newline. */
  readonly write: (line: string) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
}

/** Newlines would break lines in two, escapes would reach the terminal. */
const CONTROL = /\p{Cc}/gu;

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** A logger that writes one line for each call. Fields without a value are left out. */
export function createLogger({ level, format, write, now }: LoggerOptions): Logger {
  const least = LEVELS.indexOf(level);
  const render = format === "json" ? jsonLine : textLine;
  const at = (importance: LogLevel) =>
    LEVELS.indexOf(importance) < least
      ? () => {}
      : (message: string, fields: LogFields = {}) => write(render(new Date(now()), importance, message, fields));
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function textLine(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  const clock = time.toISOString().slice(11, 23);
  const pairs = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}=${quote(value)}`],
  );
  return `${clock} ${level.padEnd(5)} ${message.replaceAll(CONTROL, " ")}${pairs.join("")}\n`;
}

function jsonLine(time: Date, level: LogLevel, message: string, fields: LogFields): string {
  return `${JSON.stringify({ time: time.toISOString(), level, message, ...fields })}\n`;
}

const quote = (value: string | number | boolean): string =>
  typeof value === "string" && (value === "" || /[\s"=\p{Cc}]/u.test(value)) ? JSON.stringify(value) : String(value);
