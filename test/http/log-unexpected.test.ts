import { expect, test } from "bun:test";
import { logUnexpected } from "../../src/http/log-unexpected.ts";
import { RecordingLog } from "../support/recording-log.ts";

test.each<[string, (text: string) => unknown]>([
  ["an error", (text) => new TypeError(`no number: ${text}`)],
  ["a value that is no error", (text) => text],
])("%s is logged with its place and calls, but without its text, at any level", (_, failure) => {
  const log = new RecordingLog();
  const fail = () => failure("private\n    at private (words:1:1)");
  logUnexpected(log, fail(), "mine");
  expect(log.lines.map(({ level, fields }) => [level, fields["request_id"]])).toEqual([
    ["error", "mine"],
    ["debug", "mine"],
  ]);
  expect(JSON.stringify(log.lines)).not.toMatch(/private|words/);
  expect(log.lines[0]?.fields["at"]).toMatch(/^at .*log-unexpected.*:\d+:\d+/);
  expect(String(log.lines[1]?.fields["calls"])).toStartWith(String(log.lines[0]?.fields["at"]));
});
