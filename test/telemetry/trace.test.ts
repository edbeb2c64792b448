import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { begin, counter, end, slice, trackName } from "../../src/telemetry/trace-events.ts";
import { createTraceFile, TraceFile } from "../../src/telemetry/trace-file.ts";
import { sharedFolder } from "../support/folders.ts";

const folder = sharedFolder();
let files = 0;
const fresh = () => join(folder, `${files++}.json`);
const never = (reason: string) => expect.unreachable(reason);
const parsed = (path: string) => JSON.parse(`${readFileSync(path, "utf8")}]`);

const track = { process: 7, thread: 3 };

test("events have the format's fields, with times in whole microseconds without gaps", () => {
  expect(JSON.parse(slice(track, "decode", 1.0004, 2.0006, { rows: 2 }))).toEqual({
    ph: "X",
    name: "decode",
    pid: 7,
    tid: 3,
    ts: 1000,
    dur: 1001,
    args: { rows: 2 },
  });
  expect(JSON.parse(begin(track, "queued", 2))).toEqual({ ph: "B", name: "queued", pid: 7, tid: 3, ts: 2000 });
  expect(JSON.parse(end(track, "queued", 3))).toMatchObject({ ph: "E", ts: 3000 });
  expect(JSON.parse(counter(track, "requests", 3, { running: 1 }))).toMatchObject({ ph: "C", args: { running: 1 } });
  expect(JSON.parse(trackName(track, 'a "b"'))).toMatchObject({ ph: "M", args: { name: 'a "b"' } });
});

describe("a trace file", () => {
  test("is an open JSON array after each flush, also after that of the next writer", () => {
    const path = fresh();
    writeFileSync(path, "older");
    createTraceFile(path);
    const first = new TraceFile(path, never);
    first.add("1", "2");
    first.flush();
    expect(parsed(path)).toEqual([1, 2]);
    first.add("3");
    first.flush();
    first.flush();
    expect(parsed(path)).toEqual([1, 2, 3]);
    const second = new TraceFile(path, never);
    second.add("4");
    second.flush();
    expect(parsed(path)).toEqual([1, 2, 3, 4]);
  });

  test("is written periodically without a flush by its user", async () => {
    const path = fresh();
    new TraceFile(path, never).add("1");
    while (readFileSync(path, "utf8") === "") await Bun.sleep(20);
    expect(parsed(path)).toEqual([1]);
  });

  test("ends at its size limit, and reports that once", () => {
    const path = fresh();
    const reasons: string[] = [];
    const file = new TraceFile(path, (reason) => reasons.push(reason), 96);
    for (let event = 0; event < 20; event++) {
      file.add(JSON.stringify("x".repeat(20)));
      file.flush();
    }
    expect(parsed(path)).toHaveLength(4);
    expect(readFileSync(path).length).toBe(96);
    expect(reasons).toEqual(["it has reached 0 MiB"]);
  });

  test("causes no failure when it cannot be opened", () => {
    const reasons: string[] = [];
    const file = new TraceFile(join(folder, "missing", "x.json"), (reason) => reasons.push(reason));
    file.add("1");
    file.flush();
    expect(reasons).toEqual(["it cannot be written: there is no such file or folder"]);
  });

  test("ends with a whole event on a full disk", () => {
    const reasons: string[] = [];
    const file = new TraceFile("/dev/full", (reason) => reasons.push(reason));
    file.add("1");
    file.flush();
    expect(reasons).toEqual(["it cannot be written: the disk is full"]);
  });
});
