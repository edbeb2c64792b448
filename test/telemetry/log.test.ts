import { expect, test } from "bun:test";
import { createLogger, type LoggerOptions } from "../../src/telemetry/log.ts";

function logged(options: Partial<LoggerOptions>) {
  const lines: string[] = [];
  const now = () => Date.UTC(2026, 10, 21, 8, 5, 3, 7);
  const write = (line: string) => void lines.push(line);
  return { lines, log: createLogger({ level: "info", format: "text", write, now, ...options }) };
}

test("a text line has time, level, message and fields", () => {
  const { lines, log } = logged({});
  log.info("request", { id: "req_1", status: 200, streamed: true, finish: undefined });
  log.warn("two\nlines", { path: "a b", quote: 'say "hi"', empty: "", equals: "a=b" });
  expect(lines).toEqual([
    "2026-11-21T08:05:03.007Z info    request id=req_1 status=200 streamed=true\n",
    '2026-11-21T08:05:03.007Z warn    two lines path="a b" quote="say \\"hi\\"" empty="" equals="a=b"\n',
  ]);
});

test("control characters of a value in a text line do not reach the terminal", () => {
  const { lines, log } = logged({});
  log.error("odd\u001b[31m\r\nb", { value: "a\u001b[31mb" });
  expect(lines).toEqual(['2026-11-21T08:05:03.007Z error   odd [31m  b value="a\\u001b[31mb"\n']);
});

test("neither do those that JSON allows, nor marks that change the order of letters", () => {
  const value = "a\u009b31mb\u202ec";
  const shown = "a\\u009b31mb\\u202ec";
  for (const format of ["text", "json"] as const) {
    const { lines, log } = logged({ format });
    log.info("m", { value });
    expect(lines[0]).toContain(format === "text" ? `value="${shown}"` : `"value":"${shown}"`);
  }
});

test("json has one object per line", () => {
  const { lines, log } = logged({ format: "json" });
  log.error("failed\nbadly", { code: 7, skipped: undefined });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toEndWith("}\n");
  expect(JSON.parse(String(lines[0]))).toEqual({
    time: "2026-11-21T08:05:03.007Z",
    level: "error",
    message: "failed\nbadly",
    code: 7,
  });
});

test("less important levels are not written", () => {
  for (const [level, written] of [
    ["debug", 5],
    ["verbose", 4],
    ["info", 3],
    ["warn", 2],
    ["error", 1],
  ] as const) {
    const { lines, log } = logged({ level });
    for (const write of [log.debug, log.verbose, log.info, log.warn, log.error]) write("x");
    expect(lines).toHaveLength(written);
  }
});
