import { expect, test } from "bun:test";
import { DownloadLine } from "../../src/cli/download-line.ts";

function progress(isTTY: boolean, format: "text" | "json" = "text", columns = 120) {
  let now = 0;
  const written: string[] = [];
  const out = { isTTY, columns, write: (text: string) => written.push(text) > 0 };
  const shown = new DownloadLine({ out, format, now: () => now });
  const at = (seconds: number, received: number, waiting = false) => {
    now = seconds * 1000;
    shown.showDownload({ name: "a/b:Q8_0", received, total: 2e9, waiting });
  };
  return { written, at, shown };
}

test("a terminal gets a bar that is redrawn", () => {
  const { written, at, shown } = progress(true);
  at(0, 0);
  at(0.05, 1e6);
  at(1, 5e8);
  shown.end();
  expect(written).toEqual([
    `\x1b[K  a/b:Q8_0 [${".".repeat(24)}] 0 %  0 bytes of 2.00 GB\r`,
    `\x1b[K  a/b:Q8_0 [${"#".repeat(6)}${".".repeat(18)}] 25 %  500.0 MB of 2.00 GB  500.0 MB/s  3 s left\r`,
    "\x1b[K",
  ]);
});

test("lines never wrap on a narrow terminal", () => {
  const { written, at } = progress(true, "text", 40);
  at(0, 0);
  at(1, 5e8);
  expect(written).toEqual([
    "\x1b[K  a/b:Q8_0 0 %  0 bytes of 2.00 GB\r",
    "\x1b[K  a/b:Q8_0 25 %  500.0 MB of 2.00 GB  5\r",
  ]);
});

test("a pipe gets a line from time to time", () => {
  const { written, at } = progress(false);
  for (let second = 0; second <= 25; second++) at(second, second * 1e7, second > 15);
  expect(written).toEqual([
    "a/b:Q8_0: 0 %  0 bytes of 2.00 GB\n",
    "a/b:Q8_0: 5 %  100.0 MB of 2.00 GB  10.0 MB/s  4 min left\n",
    "a/b:Q8_0: 10 %  200.0 MB of 2.00 GB  10.0 MB/s  3 min left  another svc downloads it\n",
  ]);
});

test("in JSON logs every line is JSON", () => {
  const { written, at, shown } = progress(true, "json");
  at(0, 0);
  shown.note("connection lost");
  shown.end();
  expect(written.map((line) => JSON.parse(line).message)).toEqual([
    "a/b:Q8_0: 0 %  0 bytes of 2.00 GB",
    "connection lost",
  ]);
});
