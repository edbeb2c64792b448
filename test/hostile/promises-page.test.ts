// docs/promises.md and RESULTS.md must be what their generator writes: `--only` reads the results of the other attacks
// from the latter.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisesPage, resultsOf, resultsPage } from "./promises-page.ts";
import type { Row } from "./row.ts";

const row = (fields: Partial<Row>): Row => ({
  promise: "Slow readers do not delay others",
  attack: "6 readers",
  figure: "0.09 GB, /health 8 ms; 10 × 200",
  limit: "1.5 GB, /health 100 ms",
  ok: true,
  ...fields,
});
const titles = { first: "The first attacks", second: "The second attacks" };
const introduction = "# Promises\n\n## Summary\n";

/** Returns the cells of a promise's row in the summary. */
const summaryOf = (page: string, promise: string) =>
  page
    .split("\n")
    .find((line) => line.startsWith(`| ${promise} |`))
    ?.split("|")
    .slice(2, -1)
    .map((cell) => cell.trim());

test("the page of results keeps those of all files", () => {
  const results = new Map([
    ["first", [row({ theirs: "9.6 GB" }), row({ attack: "a|b", ok: false }), row({ limit: "all served" })]],
    ["second", [row({ promise: "Memory is bounded" })]],
  ]);
  const page = resultsPage("# Attacks\n", titles, results);
  expect(resultsOf(page)).toEqual(results);
  expect(resultsPage(page, titles, resultsOf(page))).toBe(page);
});

test("a promise is summed up over all files: how many attacks it withstood, and the worst figures", () => {
  const page = promisesPage(
    introduction,
    new Map([
      ["first", [row({}), row({ figure: "1.44 GB, /health 51 ms; grew by 9 GB", ok: false })]],
      ["second", [row({ figure: "0.92 GB, /health 68 ms" }), row({ figure: "5 of 5 served", limit: "all served" })]],
    ]),
  );
  expect(page).toStartWith(introduction);
  expect(summaryOf(page, "Slow readers do not delay others")).toEqual([
    "3 of 4",
    "1.44 GB, /health 68 ms",
    "1.5 GB, /health 100 ms; all served",
  ]);
});

test("both pages are written by this code", () => {
  // The formatter pads tables.
  const spaced = (text: string) => text.replaceAll(/ +\|/g, " |").replaceAll(/-{3,}/g, "---");
  const page = readFileSync(join(import.meta.dir, "RESULTS.md"), "utf8");
  const promises = readFileSync(join(import.meta.dir, "../../docs/promises.md"), "utf8");
  const results = resultsOf(page);
  const present = Object.fromEntries([...page.matchAll(/^## (.+)\n\n([^|\n]+)\.$/gm)].map(([, ...pair]) => pair));
  expect([...results.keys()]).toContain("beside");
  expect(spaced(resultsPage(page, present, results))).toBe(spaced(page));
  expect(spaced(promisesPage(promises, results))).toBe(spaced(promises));
});
