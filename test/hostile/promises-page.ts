// Writes docs/promises.md, a summary of the promises, and test/hostile/RESULTS.md, the results of each file of attacks;
// and reads the results from the latter.

import { table } from "../../docs/generate/table.ts";
import type { Row } from "./row.ts";

/** Rows by the file of attacks that measured them. */
export type Results = ReadonlyMap<string, readonly Row[]>;

const SUMMARY = "## Summary";
const NOT_HELD = "**not held**: ";
/** A number with its unit: in limits, and in the figures that they limit. */
const MEASURE = /([+−]?[\d.]+) (GB|MB|KiB|ms|s)\b/;

/** Returns the page of promises: its present introduction, and a summary of these results. */
export function promisesPage(page: string, results: Results): string {
  const introduction = page.slice(0, page.indexOf(SUMMARY)) + SUMMARY;
  return `${introduction}\n\n${summary([...results.values()].flat())}\n`;
}

/** Returns the page of results: its present introduction, and these results, in the order of `titles` (by file). */
export function resultsPage(page: string, titles: Readonly<Record<string, string>>, results: Results): string {
  const [introduction = ""] = page.split(/^## /m);
  const sections = Object.entries(titles).flatMap(([file, title]) => {
    const rows = results.get(file) ?? [];
    return rows.length === 0 ? [] : [`## ${file}\n\n${title}.\n\n${resultsText(rows)}`];
  });
  return `${[introduction.trimEnd(), ...sections].join("\n\n")}\n`;
}

/** Returns the text about one file's rows: a table for each promise and limit. */
export function resultsText(rows: readonly Row[]): string {
  const hasOther = rows.some(({ theirs }) => theirs !== undefined);
  const groups = Map.groupBy(rows, ({ promise, limit }) => `**${promise}** (limit: ${limit})`);
  const tables = [...groups].map(([heading, group]) => {
    const cells = group.map(({ attack, figure, ok, theirs = "–" }) => [
      attack,
      `${ok ? "" : NOT_HELD}${figure}`,
      ...(hasOther ? [theirs] : []),
    ]);
    return `${heading}\n\n${table(["attack", "svc", ...(hasOther ? ["llama-server"] : [])], cells)}`;
  });
  return tables.join("\n\n");
}

/** Reads the results from the page of results. */
export function resultsOf(page: string): Map<string, readonly Row[]> {
  const results = new Map<string, readonly Row[]>();
  for (const section of page.split(/^## /m).slice(1)) {
    const [file = ""] = section.split("\n");
    const rows: Row[] = [];
    let [promise, limit] = ["", ""];
    for (const line of section.split("\n")) {
      [, promise = promise, limit = limit] = /^\*\*(.+)\*\* \(limit: (.+)\)$/.exec(line) ?? [];
      const [attack, svc = "", theirs] = cellsOf(line);
      if (attack === undefined || attack === "attack" || /^-+$/.test(attack)) continue;
      const ok = !svc.startsWith(NOT_HELD);
      const figure = ok ? svc : svc.slice(NOT_HELD.length);
      rows.push({ promise, attack, figure, limit, ok, ...(theirs !== undefined && theirs !== "–" && { theirs }) });
    }
    results.set(file, rows);
  }
  return results;
}

const cellsOf = (line: string): string[] =>
  line.startsWith("|")
    ? line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("\\|", "|"))
    : [];

function summary(all: readonly Row[]): string {
  const rows = [...Map.groupBy(all, ({ promise }) => promise)].map(([promise, group]) => {
    const limits = [...Map.groupBy(group, ({ limit }) => limit)];
    const figures = limits.flatMap(([limit, limited]) => worst(limit, limited));
    return [
      promise,
      `${group.filter(({ ok }) => ok).length} of ${group.length}`,
      figures.length === 0 ? "–" : figures.join("; "),
      limits.map(([limit]) => limit).join("; "),
    ];
  });
  return table(["promise", "held", "worst", "limit"], rows);
}

/** Returns a limit with the largest figures in place of its numbers; a figure is the first one with the limit's unit. */
function worst(limit: string, rows: readonly Row[]): string[] {
  const parts = limit.split(", ").flatMap((part) => {
    const unit = MEASURE.exec(part)?.[2];
    if (unit === undefined) return [];
    const figures = rows.flatMap(({ figure }) => new RegExp(`([+−]?[\\d.]+) ${unit}\\b`).exec(figure)?.[1] ?? []);
    const [largest] = figures.toSorted((one, other) => numberOf(other) - numberOf(one));
    return largest === undefined ? [] : [part.replace(MEASURE, `${largest} ${unit}`)];
  });
  return parts.length === 0 ? [] : [parts.join(", ")];
}

const numberOf = (text: string): number => Number(text.replace("−", "-"));
