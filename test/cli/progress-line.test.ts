import { expect, test } from "bun:test";
import { ProgressLine } from "../../src/cli/progress-line.ts";

const measure = {
  amount: (done: number, total: number | undefined) => `${done} of ${total}`,
  rate: (speed: number) => `${speed} a second`,
};

function progress(isTTY: boolean, patienceMs?: number) {
  let now = 0;
  const written: string[] = [];
  const out = { isTTY, columns: 120, write: (text: string) => written.push(text) > 0 };
  const options = { out: out as never, format: "text", measure, now: () => now } as const;
  const line = new ProgressLine({ ...options, ...(patienceMs !== undefined && { patienceMs }) });
  const at = (seconds: number, done: number) => {
    now = seconds * 1000;
    line.show({ name: "a", done, total: 100 });
  };
  return { written, line, at };
}

test("short work prints no line without a bar", () => {
  const { written, at } = progress(false, 10_000);
  for (let second = 0; second < 10; second++) at(second, second);
  expect(written).toEqual([]);
  at(10, 50);
  expect(written).toEqual(["a: 50 %  50 of 100  9 a second  6 s left\n"]);
});

test("each piece of work has its own rate", () => {
  const { written, line, at } = progress(true);
  at(0, 0);
  at(1, 100);
  line.begin();
  at(2, 0);
  at(3, 10);
  expect(written.map((text) => /[\d.]+ a second/.exec(text)?.[0])).toEqual([
    undefined,
    "100 a second",
    undefined,
    undefined,
    "10 a second",
  ]);
});
