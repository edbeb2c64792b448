// Log lines for a person at a terminal: local time, and requests in columns, with their details always in the same
// order.

import { styleText } from "node:util";
import { ORDERLY_ENDS } from "../domain/live.ts";
import { FINISH_REASONS } from "../domain/usage.ts";
import type { LogFields, LogLevel } from "./log.ts";
import { pairs, withoutControls, type Render } from "./log-line.ts";

type Style = "dim" | "red" | "yellow" | "green" | "cyan" | "bold";
type Paint = (style: Style, text: string) => string;

const LEVEL_STYLES: Readonly<Record<LogLevel, Style>> = {
  debug: "dim",
  verbose: "cyan",
  info: "green",
  warn: "yellow",
  error: "red",
};

/** Returns a renderer. `colours`: use colours; `ids`: show the ids of all requests, rather than of failed ones only. */
export function terminalLine({ colours, ids }: { readonly colours: boolean; readonly ids: boolean }): Render {
  const paint: Paint = (style, text) =>
    colours && text !== "" ? styleText(style, text, { validateStream: false }) : text;
  return (time, level, message, { id, ...fields }) => {
    const known = ids || message !== "request" || hasFailed(fields) ? { id, ...fields } : fields;
    const line = message === "request" ? requestLine(known, paint) : eventLine(level, message, known, paint);
    return `${paint("dim", localTime(time))} ${line}\n`;
  };
}

const eventLine = (level: LogLevel, message: string, fields: LogFields, paint: Paint): string =>
  `${paint(LEVEL_STYLES[level], level.padEnd(7))} ${withoutControls(message)}${paint("dim", pairs(fields))}`;

function requestLine(fields: LogFields, paint: Paint): string {
  const { id, method, route, status, model, ms, client, ...rest } = fields;
  const columns = [
    paint(styleOf(fields), String(status)),
    duration(Number(ms)).padStart(8),
    paint("dim", String(method).padEnd(4)),
    String(route).padEnd(20),
    ...(model === undefined ? [] : [paint("cyan", withoutControls(String(model)))]),
    ...(isHere(client) ? [] : [paint("dim", `from ${withoutControls(String(client))}`)]),
  ];
  const details = detailsOf({ ...rest, status }, paint);
  const shownId = id === undefined ? "" : paint("dim", `  ${withoutControls(String(id))}`);
  return `${columns.join(" ")}${details === "" ? "" : `  ${details}`}${shownId}`.trimEnd();
}

/** Returns red for failures of the server, yellow for errors of the client. */
function styleOf(fields: LogFields): Style {
  if (hasFailed(fields)) return "red";
  return Number(fields["status"]) >= 400 ? "yellow" : "green";
}

/** Returns whether the server failed. A stream may fail after its status; a client's error has its code as finish, too. */
function hasFailed({ status, finish }: LogFields): boolean {
  if (Number(status) >= 400) return Number(status) >= 500;
  return finish !== undefined && !ORDERLY.has(finish);
}

/** How requests and live sessions end that did not fail. */
const ORDERLY: ReadonlySet<unknown> = new Set([...FINISH_REASONS, ...ORDERLY_ENDS]);
/** The usual ends, which are not shown. */
const USUAL: ReadonlySet<unknown> = new Set(["stop", "closed"]);

function detailsOf(fields: LogFields, paint: Paint): string {
  const { status: _, code, param, finish, prompt, cached, completion, ttft_ms, tok_s, ...others } = fields;
  const failure = code ?? (ORDERLY.has(finish) ? undefined : finish);
  const parts = [
    failure !== undefined && paint(styleOf(fields), `${failure}${param === undefined ? "" : ` at ${param}`}`),
    prompt !== undefined && `${count(prompt)} prompt${cached ? paint("dim", ` (${count(cached)} cached)`) : ""}`,
    completion !== undefined && `${count(completion)} output`,
    ttft_ms !== undefined && `first ${duration(Number(ttft_ms))}`,
    tok_s !== undefined && paint("bold", `${tok_s} tok/s`),
    ORDERLY.has(finish) && !USUAL.has(finish) && paint("yellow", String(finish)),
    ...Object.entries(others).map(([name, value]) => value !== undefined && `${value} ${name.replaceAll("_", " ")}`),
  ];
  return parts.filter((part) => part !== false).join("  ");
}

const count = (value: LogFields[string]): string => Number(value).toLocaleString("en-US");

function duration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
}

/** Returns whether a client is on this machine: then its address, like that of most requests, is not shown. */
const isHere = (client: LogFields[string]): boolean =>
  client === undefined || /^(127\.|::1$|::ffff:127\.)/.test(String(client));

/** Returns the time in the machine's time zone: `2026-11-25 08:05:03`. */
function localTime(time: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
