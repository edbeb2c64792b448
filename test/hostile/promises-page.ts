// Writes docs/promises.md: a summary of the promises, then the results of each file of attacks; and reads them from it.

import { table } from "../../docs/generate/table.ts";
import type { Row } from "./row.ts";

/** Rows by the file of attacks that measured them. */
export type Results = ReadonlyMap<string, readonly Row[]>;

const SUMMARY = "## Summary";
const NOT_HELD = "**not held**: ";
/** A number with its unit: in limits, and in the figures that they limit. */
const MEASURE = /([+−]?[\d.]+) (GB|MB|KiB|ms|s)\b/;

/** Returns the page: its present introduction, and these results, in the order of `titles` (by file). */
export function promisesPage(page: string, titles: Readonly<Record<string, string>>, results: Results): string {
  const sections = Object.entries(titles).flatMap(([file, title]) => {
    const rows = results.get(file) ?? [];
    return rows.length === 0 ? [] : [{ file, title, rows }];
  });
  const introduction = page.slice(0, page.indexOf(SUMMARY)) + SUMMARY;
  const texts = sections.map(({ file, title, rows }) => `## ${file}\n\n${title}.\n\n${resultsText(rows)}`);
  const all = sections.flatMap(({ file, rows }) => rows.map((row) => ({ ...row, file })));
  return `${[introduction, summary(all), ...texts].join("\n\n")}\n`;
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

/** Reads the results from the page. */
export function resultsOf(page: string): Map<string, readonly Row[]> {
  const results = new Map<string, readonly Row[]>();
  const start = page.indexOf(SUMMARY) + SUMMARY.length;
  for (const section of page.slice(start).split(/^## /m).slice(1)) {
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

function summary(all: readonly (Row & { readonly file: string })[]): string {
  const rows = [...Map.groupBy(all, ({ promise }) => promise)].map(([promise, group]) => {
    const limits = [...Map.groupBy(group, ({ limit }) => limit)];
    const figures = limits.flatMap(([limit, limited]) => worst(limit, limited));
    return [
      promise,
      `${group.filter(({ ok }) => ok).length} of ${group.length}`,
      figures.length === 0 ? "–" : figures.join("; "),
      limits.map(([limit]) => limit).join("; "),
      [...new Set(group.map(({ file }) => `[${file}](#${file})`))].join(", "),
    ];
  });
  return table(["promise", "held", "worst", "limit", "attacks"], rows);
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
