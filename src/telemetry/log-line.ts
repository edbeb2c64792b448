// Log lines for programs and files: JSON, and text that grep and awk can split.

import type { LogFields, LogLevel } from "./log.ts";

/** Returns a log line including its newline. */
export type Render = (time: Date, level: LogLevel, message: string, fields: LogFields) => string;

export const textLine: Render = (time, level, message, fields) =>
  `${time.toISOString()} ${level.padEnd(7)} ${withoutControls(message)}${pairs(fields)}\n`;

export const jsonLine: Render = (time, level, message, fields) =>
  `${JSON.stringify({ time: time.toISOString(), level, message, ...fields })}\n`;

/** Returns ` key=value` for each field that has a value. */
export const pairs = (fields: LogFields): string =>
  Object.entries(fields)
    .map(([key, value]) => (value === undefined ? "" : ` ${key}=${quote(value)}`))
    .join("");

/** Replaces control characters: newlines would split the line, escape sequences would reach the terminal. */
export const withoutControls = (text: string): string => text.replaceAll(/\p{Cc}/gu, " ");

const quote = (value: string | number | boolean): string =>
  typeof value === "string" && (value === "" || /[\s"=\p{Cc}]/u.test(value)) ? JSON.stringify(value) : String(value);
