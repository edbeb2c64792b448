import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { staleLines } from "./staleness.ts";

const page = readFileSync(join(import.meta.dir, "PARITY.md"), "utf8");
const changed = (from: string, to: string) => {
  expect(page).toContain(from);
  return staleLines(page, page.replace(from, to));
};

test("a page is not stale for other numbers and details", () => {
  expect(staleLines(page, page)).toEqual([]);
  expect(changed("|       4 |    4 |    0 |         0 |                2e-5 |", "| 4 | 3 | 1 | 0 | 3e-5 |")).toEqual(
    [],
  );
  const tie = "## Differences and reasons\n\n- **greedy**.\n  - story, seed 1: tie, token 3\n";
  expect(changed("## Differences and reasons\n", tie)).toEqual([]);
  expect(changed('token 10: "." and "l"', 'token 9: "a" and "b"')).toEqual([]);
});

test("a page is stale for another verdict, row or reason", () => {
  const [row = ""] = /^\| temperature 5 .*$/m.exec(page) ?? [];
  expect(changed(row, row.replace(" same ", " **different** "))).toEqual([
    "it lacks: temperature 5 | **different**",
    "it no longer holds: temperature 5 | same",
  ]);
  expect(changed(`${row}\n`, "")).toEqual(["it no longer holds: temperature 5 | same"]);
  expect(
    changed("On purpose: svc accepts frequency_penalty", "On purpose: svc ignores frequency_penalty"),
  ).toHaveLength(2);
});
