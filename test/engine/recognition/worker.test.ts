// The loop of the recognition engine with a scripted reader.

import { expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import type { RecognizedPage } from "../../../src/domain/recognition.ts";
import { Watch } from "../../../src/engine/recognition/child/watch.ts";
import { RecognitionWorker } from "../../../src/engine/recognition/child/worker.ts";
import type { DocumentFile, FromRecognizer, OpeningJob, PageJob } from "../../../src/engine/recognition/protocol.ts";

const pageOf = (path: string, number: number): RecognizedPage => ({
  number,
  width: 10,
  height: 20,
  source: "text",
  lines: [{ text: path, confidence: 1, box: { x: 0, y: 0, width: 1, height: 1 }, block: 0, words: [] }],
  tables: [],
  barcodes: [],
  notes: [],
});

function create(read: (path: string, page: number) => Promise<void> = async () => {}) {
  const sent: FromRecognizer[] = [];
  const order: string[] = [];
  const aborts: number[] = [];
  const told: string[] = [];
  let now = 0;
  const clock = { now: () => (now += 600), computed: () => computed };
  let computed = 0;
  const compute = (ms: number) => void (computed += ms);
  const watch = new Watch({ aborts: () => aborts.splice(0), tellMoved: (work) => void told.push(work) }, clock);
  const reader = {
    count: async () => 3,
    close: () => void order.push("close"),
    read: async ({ path }: DocumentFile, number: number) => {
      order.push(`${path}${number}`);
      watch.check();
      await read(path, number);
      watch.check();
      return pageOf(path, number);
    },
  };
  const worker = new RecognitionWorker(reader, watch, (message) => sent.push(message));
  return { worker, sent, order, aborts, told, compute };
}

const page = (path: string, number = 1, client?: string, isLast = false): PageJob => ({
  document: { id: 1, path, field: "file" },
  task: {},
  page: number,
  isLast,
  ...(client !== undefined && { client }),
});

const opening = (path: string, wanted: OpeningJob["wanted"] = { maxPages: 9 }, client?: string): PageJob => ({
  document: { id: 1, path, field: "file" },
  task: {},
  wanted,
  readers: 1,
  ...(client !== undefined && { client }),
});

test("a document's pages are counted, and its first requested page is read in the same turn", async () => {
  const { worker, sent, order } = create();
  worker.submit(1, opening("a", { pages: [{ first: 2, last: 3 }], maxPages: 9 }));
  worker.submit(2, page("a", 3));
  await worker.step();
  await worker.step();
  const counted = { type: "counted" as const, pages: 3, wanted: [2, 3] };
  expect(sent).toEqual([
    { type: "accepted", key: 1, event: { type: "accepted" } },
    { type: "accepted", key: 2, event: { type: "accepted" } },
    { type: "started", keys: [1] },
    { type: "events", outputs: [{ key: 1, events: [counted] }], finished: [] },
    { type: "events", outputs: [], finished: [{ key: 1, event: { type: "page", page: pageOf("a", 2) } }] },
    { type: "started", keys: [2] },
    { type: "events", outputs: [], finished: [{ key: 2, event: { type: "page", page: pageOf("a", 3) } }] },
  ]);
  expect(order).toEqual(["a2", "a3"]);
});

test("missing pages and too many requested pages are refused when the pages are counted", async () => {
  const { worker, sent, order } = create();
  worker.submit(1, opening("a", { pages: [{ first: 4 }], maxPages: 9 }));
  worker.submit(2, opening("a", { maxPages: 2 }));
  await worker.step();
  await worker.step();
  const refusals = sent.flatMap((message) => (message.type === "rejected" ? [[message.code, message.param]] : []));
  expect(refusals).toEqual([
    ["invalid_value", "pages"],
    ["unprocessable_media", "max_pages"],
  ]);
  expect(order).toEqual(["close", "close"]);
});

test("a client that arrives during a page of another comes next, and one page needs only one turn", async () => {
  const { worker, order } = create();
  for (const key of [1, 2, 3]) worker.submit(key, page(`long${key}-`, 1, "many"));
  await worker.step();
  worker.submit(4, opening("short", { pages: [{ first: 1, last: 1 }], maxPages: 9 }, "one"));
  await worker.step();
  expect(order).toEqual(["long1-1", "short1", "close"]);
});

test("the engine holds nothing of a document after its last page was read", async () => {
  const { worker, order } = create();
  worker.submit(1, page("a", 1));
  worker.submit(2, page("a", 2, undefined, true));
  await worker.step();
  await worker.step();
  expect(order).toEqual(["a1", "a2", "close"]);
});

test("the engine holds nothing of a document of which a page cannot be read", async () => {
  const { worker, order } = create(() => Promise.reject(new SvcError("unprocessable_media", "It is damaged.")));
  worker.submit(1, page("a", 1, undefined, true));
  await worker.step();
  expect(order).toEqual(["a1", "close"]);
});

test("clients take turns, however many documents each has", async () => {
  const { worker, order } = create();
  for (const [key, job] of [page("a", 1, "many"), page("b", 1, "many"), page("c", 1, "one")].entries()) {
    worker.submit(key, job);
  }
  await worker.step();
  // The next page is submitted when the one before is done.
  worker.submit(10, page("a", 2, "many"));
  for (let turn = 0; turn < 3; turn++) await worker.step();
  expect(order).toEqual(["a1", "c1", "b1", "a2"]);
});

test("a page whose request was cancelled is not begun", async () => {
  const { worker, sent, order } = create();
  worker.submit(1, page("a"));
  worker.submit(2, page("b"));
  worker.cancel(1);
  await worker.step();
  await worker.step();
  expect(order).toEqual(["b1"]);
  expect(sent.filter(({ type }) => type === "rejected")).toEqual([]);
});

test.each(["message", "abort"])(
  "a page that is being read ends with a refusal when it is given up (%s)",
  async (how) => {
    const reading = create(async () => {
      if (how === "message") reading.worker.cancel(7);
      else reading.aborts.push(7);
    });
    const { worker, sent } = reading;
    worker.submit(7, page("a"));
    await worker.step();
    expect(sent.at(-1)).toMatchObject({ type: "rejected", key: 7, code: "request_cancelled" });
  },
);

test("an abort of a page that has already ended does not end the next page", async () => {
  const { worker, sent, aborts } = create();
  worker.submit(1, page("a"));
  await worker.step();
  aborts.push(1);
  worker.submit(2, page("b"));
  await worker.step();
  expect(sent.at(-1)).toMatchObject({ type: "events", finished: [{ key: 2 }] });
});

test("errors in a document are reported to the client, and internal errors to the operator", async () => {
  const wrong = create(async (path) => {
    if (path === "a") throw new SvcError("unprocessable_media", "It is damaged.", { param: "file" });
    throw new Error("secret");
  });
  wrong.worker.submit(1, page("a"));
  wrong.worker.submit(2, page("b"));
  await wrong.worker.step();
  await wrong.worker.step();
  const ends = wrong.sent.filter(({ type }) => type === "rejected" || type === "log");
  expect(ends).toEqual([
    { type: "rejected", key: 1, code: "unprocessable_media", message: "It is damaged.", param: "file" },
    { type: "log", level: "error", text: "secret" },
    {
      type: "rejected",
      key: 2,
      code: "internal_error",
      message: "The page could not be read; the log has the details.",
    },
  ]);
});

test("a page that takes too long is ended, and the next has its own time limit", async () => {
  const slow = create(async (path) => slow.compute(path === "noise" ? 61_000 : 59_000));
  slow.worker.submit(1, page("noise", 2));
  slow.worker.submit(2, page("b"));
  await slow.worker.step();
  expect(slow.sent.at(-1)).toEqual({
    type: "rejected",
    key: 1,
    code: "unprocessable_media",
    message: "'file' must have pages that are read in 60 s of computing; page 2 takes longer.",
    param: "file",
  });
  await slow.worker.step();
  expect(slow.sent.at(-1)).toMatchObject({ type: "events", finished: [{ key: 2 }] });
  const fromZero = { id: 2, path: "noise", field: "file", countsFromZero: true } as const;
  slow.worker.submit(3, { document: fromZero, task: {}, page: 2, isLast: true });
  await slow.worker.step();
  expect(slow.sent.at(-1)).toMatchObject({ message: expect.stringContaining("; page 1 takes longer.") });
});

test("a document that was deleted while it waited is named", async () => {
  const { worker, sent } = create(async () => void (await Bun.file("/nowhere/deleted.png").bytes()));
  worker.submit(1, page("a"));
  await worker.step();
  const message = "'file' names a file that was deleted.";
  expect(sent.at(-1)).toEqual({ type: "rejected", key: 1, code: "not_found", message, param: "file" });
});

test("a long page gives signs of life, at most one per second", async () => {
  const { worker, told } = create();
  for (let key = 0; key < 4; key++) {
    worker.submit(key, page("a"));
    await worker.step();
  }
  // Eight calls, 600 ms apart.
  expect(told).toEqual(Array.from({ length: 4 }, () => "recognition"));
});
