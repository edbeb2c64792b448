import { expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { LlamaError } from "../../ffi/llama/api.ts";
import { library } from "./harness.ts";

setDefaultTimeout(60_000);

/** Starts the fixture with a pipe for aborts. */
function start(...args: string[]) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "fixtures/aborted.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit", "pipe"],
  });
  const fd = child.stdio[3] as unknown as number;
  const abort = (...owners: number[]) => writeSync(fd, new Uint8Array(Int32Array.from(owners).buffer));
  return { child, fd, abort };
}

async function* lines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

test("an abort stops the batch of its owner and no other, and the rest can be computed later", async () => {
  const { child, abort } = start();
  let report = "";
  // Each abort comes later than the one before, because a slow machine may have computed nothing yet.
  let delay = 0;
  for await (const line of lines(child.stdout)) {
    if (line === "small") abort(9, 8);
    else if (line === "long") setTimeout(abort, (delay += 20), 7);
    else report = line;
  }
  expect(await child.exited).toBe(0);
  const { early, kept, complaints, expected, resumed } = JSON.parse(report);
  // The first abort of 8 has been consumed, and the one of 9 affects no other owner.
  expect(early).toEqual({ again: "done", other: "done", shared: "done" });
  // Completed micro-batches are kept.
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThan(2048);
  expect(resumed).toEqual(expected);
  // The stop was requested, so nothing is logged.
  expect(complaints).toEqual([]);
});

test("an abort of sequences that are computed together leaves each with what was computed of it", async () => {
  const { child, abort } = start("together");
  let report = "";
  // Where the second one is computed, a little later each time.
  let share = 0.5;
  for await (const line of lines(child.stdout)) {
    const [, takes] = /^takes (.+)$/.exec(line) ?? [];
    if (takes !== undefined) setTimeout(abort, Number(takes) * (share = share > 0.9 ? 0.1 : share + 0.08), 7);
    else report = line;
  }
  expect(await child.exited).toBe(0);
  const { rows, first, second, expected, resumed } = JSON.parse(report);
  // Computed apart, both would have got equally far.
  expect(first).toBe(rows);
  expect(second).toBeLessThan(rows);
  expect(resumed).toEqual(expected);
});

test("an abort stops a chunk, paused or not, and leaves nothing of it", async () => {
  const { child, abort } = start("chunk");
  let report = "";
  for await (const line of lines(child.stdout)) {
    if (line === "chunk") setTimeout(abort, 1, 7);
    else report = line;
  }
  expect(await child.exited).toBe(0);
  expect(JSON.parse(report)).toEqual({ results: ["aborted", "aborted"], complaints: [] });
});

test("a batch of several owners stops when those of most of its rows are aborted", async () => {
  const { child, abort } = start("shared");
  let report = "";
  for await (const line of lines(child.stdout)) {
    if (line.startsWith("[")) report = line;
    else setTimeout(abort, 5, ...line.split(" ").map(Number));
  }
  expect(await child.exited).toBe(0);
  expect(JSON.parse(report)).toEqual(["done", "done", "done"]);
});

test("the process ends when its parent closes its end of the pipe, even during a computation", async () => {
  const { child, fd } = start("forever");
  for await (const line of lines(child.stdout)) if (line === "computing") break;
  closeSync(fd);
  expect(await child.exited).toBe(0);
});

test("a descriptor that is not open is refused", () => {
  expect(() => library().listenForAborts(9999)).toThrow(LlamaError);
});

test.each([
  ["forever", "+decoding a step\n"],
  ["idle", "-\n"],
])("while JavaScript is blocked, native code reports whether it is computing (%s)", async (what, expected) => {
  const { child, fd } = start(what);
  for await (const _ of lines(child.stdout)) break;
  const bytes = Buffer.alloc(4096);
  for (let told = ""; !told.endsWith(expected); await Bun.sleep(10)) {
    try {
      told = bytes.toString("utf8", 0, readSync(fd, bytes));
    } catch {
      // Nothing has been written yet.
    }
  }
  child.kill("SIGKILL");
});
