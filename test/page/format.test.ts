import { expect, test } from "bun:test";
import { ago, bytes, contextLength, duration, promptProgress, rate } from "../../src/page/logic/format.ts";

test("numbers have a readable form", () => {
  expect([bytes(0), bytes(999), bytes(479_916_032), bytes(4_500_000)]).toEqual([
    "0 bytes",
    "999 bytes",
    "480 MB",
    "4.5 MB",
  ]);
  expect([contextLength(131_072), contextLength(4096), contextLength(1000)]).toEqual(["128K", "4K", "1K"]);
  expect([rate(0), rate(0.844), rate(37.24), rate(2679)]).toEqual(["0", "0.84", "37.2", "2,679"]);
  expect([duration(43), duration(2310), duration(125_000), duration(3_720_000)]).toEqual([
    "43 ms",
    "2.31 s",
    "2 min 5 s",
    "1 h 2 min",
  ]);
  const now = Date.UTC(2026, 0, 31, 12);
  expect([1000, 3e5, 864e5, 864e6, 864e7].map((before) => ago(now - before, now))).toEqual([
    "just now",
    "5 minutes ago",
    "yesterday",
    "21 January",
    "23 October 2025",
  ]);
});

test("what is rounded up to 1000 has the next unit", () => {
  expect([999_499, 999_600, 999_600_000].map(bytes)).toEqual(["999 KB", "1.0 MB", "1.0 GB"]);
  expect([bytes(99_960), bytes(2e15)]).toEqual(["100 KB", "2000 TB"]);
  expect([999.6, 9996, 59_600].map(duration)).toEqual(["1.00 s", "10.0 s", "1 min 0 s"]);
});

test("a prompt in progress shows how much of it is computed, and a finished one its length", () => {
  const shown = (prompt_tokens: number, processed_prompt_tokens?: number) =>
    promptProgress({ prompt_tokens, ...(processed_prompt_tokens !== undefined && { processed_prompt_tokens }) });
  expect([shown(4096, 1024), shown(4096, 4096), shown(4096), shown(0)]).toEqual([
    "1,024 of 4,096",
    "4,096",
    "4,096",
    "–",
  ]);
});
