import { expect, test } from "bun:test";
import { ProgressLine } from "../../src/cli/progress-line.ts";
import { CLEAR_LINE } from "../../src/cli/terminal.ts";

const measure = {
  amount: (done: number, total: number | undefined) => `${done} of ${total}`,
  rate: (speed: number) => `${speed} a second`,
};

function progress(isTTY: boolean, { patienceMs, columns = 120 }: { patienceMs?: number; columns?: number } = {}) {
  let now = 0;
  const written: string[] = [];
  const out = { isTTY, columns, write: (text: string) => written.push(text) > 0 };
  const options = { out: out as never, format: "text", measure, now: () => now } as const;
  const line = new ProgressLine({ ...options, ...(patienceMs !== undefined && { patienceMs }) });
  const at = (seconds: number, done: number, name = "a") => {
    now = seconds * 1000;
    line.show({ name, done, total: 100 });
  };
  return { written, line, at };
}

test("short work prints no line without a bar", () => {
  const { written, at } = progress(false, { patienceMs: 10_000 });
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

test.each([
  [80, "short.wav", `  short.wav [${"#".repeat(12)}${".".repeat(12)}] 50 %  50 of 100`],
  [40, "/home/ada/recordings/2026/interview.wav", "  …s/2026/interview.wav 50 %  50 of 100"],
  [40, "recordings/会议录音第一部分采访.wav", "  …录音第一部分采访.wav 50 %  50 of 100"],
  [80, "会".repeat(40), `  …${"会".repeat(30)} 50 %  50 of 100`],
  [12, "short.wav", "  … 50 %  5"],
])("in %i columns, the line for %s does not wrap and shows how far the work is", (columns, name, shown) => {
  const { written, at } = progress(true, { columns });
  at(0, 50, name);
  const line = (written[0] ?? "").replace(CLEAR_LINE, "").replace("\r", "");
  expect([line, Bun.stringWidth(line) < columns]).toEqual([shown, true]);
});
