// Range headers that are expensive to read; test/http/files.test.ts has the answers to usual ones.

import { expect, test } from "bun:test";
import { byteRange } from "../../src/http/byte-range.ts";

test("a range may have spaces", () => {
  expect(byteRange("bytes= 1 - 2 ", 10)).toEqual({ start: 1, end: 3 });
});

test("a long header is ignored unread, because the work would grow with the square of its spaces", () => {
  const spaces = " ".repeat(100);
  for (const header of [`bytes=${spaces}1-2`, `bytes=1${spaces}-2`, `bytes=1-${spaces}2`, `bytes=1-2${spaces}`])
    expect(byteRange(header, 10)).toBe("all");
});
