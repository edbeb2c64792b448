// Log lines for programs and files: JSON, and text that grep and awk can split.

import type { LogFields, LogLevel } from "./log.ts";

/** Returns a log line including its newline. */
export type Render = (time: Date, level: LogLevel, message: string, fields: LogFields) => string;

export const textLine: Render = (time, level, message, fields) =>
  `${time.toISOString()} ${level.padEnd(7)} ${withoutControls(message)}${pairs(fields)}\n`;

export const jsonLine: Render = (time, level, message, fields) =>
  `${asJson({ time: time.toISOString(), level, message, ...fields })}\n`;

/** Returns ` key=value` for each field that has a value. */
export const pairs = (fields: LogFields): string =>
  Object.entries(fields)
    .map(([key, value]) => (value === undefined ? "" : ` ${key}=${quote(value)}`))
    .join("");

/** Characters that would split a line, reach the terminal as escape sequences, or show it in another order. */
const CONTROLS = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** What makes quotes around a value necessary. */
const QUOTED = new RegExp(`[\\s"=]|${CONTROLS.source}`, "u");

/** Replaces control characters by spaces. */
export const withoutControls = (text: string): string => text.replaceAll(CONTROLS, " ");

const quote = (value: string | number | boolean): string =>
  typeof value === "string" && (value === "" || QUOTED.test(value)) ? asJson(value) : String(value);

/** Returns JSON in which all control characters are escaped; JSON itself allows some of them. */
const asJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
