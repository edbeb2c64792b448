import { expect, test } from "bun:test";
import { LiveLine } from "../../src/cli/live-line.ts";
import { CLEAR_LINE } from "../../src/cli/terminal.ts";
import type { RequestRecord } from "../../src/domain/request-record.ts";

const record = (id: string, more: Partial<RequestRecord>): RequestRecord => ({
  id,
  kind: "text",
  model: "qwen",
  state: "running",
  admittedAt: 0,
  ms: 1000,
  promptTokens: 1000,
  completionTokens: 0,
  ...more,
});

/** Draws the line once a second; returns what it shows each time. */
function drawn(...moments: readonly (readonly RequestRecord[])[]): string[] {
  const written: string[] = [];
  let [second, live]: [number, readonly RequestRecord[]] = [0, []];
  const out = { isTTY: true, columns: 150, write: (text: string) => written.push(text) > 0 };
  const line = new LiveLine({ live: () => live, output: { out, format: "text" }, now: () => second * 1000 });
  return moments.map((records) => {
    written.length = 0;
    live = records;
    line.draw();
    second++;
    return written.join("").replaceAll(CLEAR_LINE, "").trim();
  });
}

test("the line shows progress, speed and remaining time of the longest prompt, and other requests", () => {
  const others = [record("b", { completionTokens: 5 }), record("c", { state: "waiting" })];
  const [, line] = drawn(
    [record("a", { processedTokens: 200 }), ...others],
    [record("a", { processedTokens: 400 }), ...others],
  );
  expect(line).toBe(
    `prefill qwen [${"#".repeat(9)}${".".repeat(15)}] 40 %  400 of 1,000 tokens  200 tok/s  3 s left  1 generating, 1 waiting`,
  );
});

test("the line shows the generated tokens and their rate when there is no prompt", () => {
  const at = (completionTokens: number) => [record("a", { completionTokens }), record("b", { completionTokens: 10 })];
  expect(drawn(at(10), at(60))[1]).toBe("generating qwen  70 tokens  50.0 tok/s  2 requests");
});

test("the line shows a rate only between two moments with the same requests", () => {
  const streams = (...counts: readonly number[]) =>
    counts.map((completionTokens, at) => record(`${at}`, { completionTokens }));
  expect(drawn(streams(100, 100), streams(200, 200), streams(210))[2]).toBe("generating qwen  210 tokens");
});

test("the line is empty for short requests, and disappears when all have ended", () => {
  expect(drawn([record("a", { ms: 100, processedTokens: 5 })])).toEqual([""]);
  expect(drawn([record("a", { processedTokens: 5 })], [])[1]).toBe("");
});
