// The loop of the recognition engine with a scripted reader.

import { expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import type { RecognizedPage } from "../../../src/domain/recognition.ts";
import { Watch } from "../../../src/engine/recognition/child/watch.ts";
import { RecognitionLoop } from "../../../src/engine/recognition/child/loop.ts";
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
  const loop = new RecognitionLoop(reader, watch, (message) => sent.push(message));
  return { loop, sent, order, aborts, told, compute };
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
  const { loop, sent, order } = create();
  loop.submit(1, opening("a", { pages: [{ first: 2, last: 3 }], maxPages: 9 }));
  loop.submit(2, page("a", 3));
  await loop.step();
  await loop.step();
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
  const { loop, sent, order } = create();
  loop.submit(1, opening("a", { pages: [{ first: 4 }], maxPages: 9 }));
  loop.submit(2, opening("a", { maxPages: 2 }));
  await loop.step();
  await loop.step();
  const refusals = sent.flatMap((message) => (message.type === "rejected" ? [[message.code, message.param]] : []));
  expect(refusals).toEqual([
    ["invalid_value", "pages"],
    ["unprocessable_media", "max_pages"],
  ]);
  expect(order).toEqual(["close", "close"]);
});

test("a client that arrives during a page of another comes next, and one page needs only one turn", async () => {
  const { loop, order } = create();
  for (const key of [1, 2, 3]) loop.submit(key, page(`long${key}-`, 1, "many"));
  await loop.step();
  loop.submit(4, opening("short", { pages: [{ first: 1, last: 1 }], maxPages: 9 }, "one"));
  await loop.step();
  expect(order).toEqual(["long1-1", "short1", "close"]);
});

test("the engine holds nothing of a document after its last page was read", async () => {
  const { loop, order } = create();
  loop.submit(1, page("a", 1));
  loop.submit(2, page("a", 2, undefined, true));
  await loop.step();
  await loop.step();
  expect(order).toEqual(["a1", "a2", "close"]);
});

test("the engine holds nothing of a document of which a page cannot be read", async () => {
  const { loop, order } = create(() => Promise.reject(new SvcError("unprocessable_media", "It is damaged.")));
  loop.submit(1, page("a", 1, undefined, true));
  await loop.step();
  expect(order).toEqual(["a1", "close"]);
});

test("clients take turns, however many documents each has", async () => {
  const { loop, order } = create();
  for (const [key, job] of [page("a", 1, "many"), page("b", 1, "many"), page("c", 1, "one")].entries()) {
    loop.submit(key, job);
  }
  await loop.step();
  // The next page is submitted when the one before is done.
  loop.submit(10, page("a", 2, "many"));
  for (let turn = 0; turn < 3; turn++) await loop.step();
  expect(order).toEqual(["a1", "c1", "b1", "a2"]);
});

test("a page whose request was cancelled is not begun", async () => {
  const { loop, sent, order } = create();
  loop.submit(1, page("a"));
  loop.submit(2, page("b"));
  loop.cancel(1);
  await loop.step();
  await loop.step();
  expect(order).toEqual(["b1"]);
  expect(sent.filter(({ type }) => type === "rejected")).toEqual([]);
});

test.each(["message", "abort"])(
  "a page that is being read ends with a refusal when it is given up (%s)",
  async (how) => {
    const reading = create(async () => {
      if (how === "message") reading.loop.cancel(7);
      else reading.aborts.push(7);
    });
    const { loop, sent } = reading;
    loop.submit(7, page("a"));
    await loop.step();
    expect(sent.at(-1)).toMatchObject({ type: "rejected", key: 7, code: "request_cancelled" });
  },
);

test("an abort of a page that has already ended does not end the next page", async () => {
  const { loop, sent, aborts } = create();
  loop.submit(1, page("a"));
  await loop.step();
  aborts.push(1);
  loop.submit(2, page("b"));
  await loop.step();
  expect(sent.at(-1)).toMatchObject({ type: "events", finished: [{ key: 2 }] });
});

test("errors in a document are reported to the client, and internal errors to the operator", async () => {
  const wrong = create(async (path) => {
    if (path === "a") throw new SvcError("unprocessable_media", "It is damaged.", { param: "file" });
    throw new Error("secret");
  });
  wrong.loop.submit(1, page("a"));
  wrong.loop.submit(2, page("b"));
  await wrong.loop.step();
  await wrong.loop.step();
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
  slow.loop.submit(1, page("noise", 2));
  slow.loop.submit(2, page("b"));
  await slow.loop.step();
  expect(slow.sent.at(-1)).toEqual({
    type: "rejected",
    key: 1,
    code: "unprocessable_media",
    message: "'file' must have pages that are read in 60 s of computing; page 2 takes longer.",
    param: "file",
  });
  await slow.loop.step();
  expect(slow.sent.at(-1)).toMatchObject({ type: "events", finished: [{ key: 2 }] });
  const fromZero = { id: 2, path: "noise", field: "file", countsFromZero: true } as const;
  slow.loop.submit(3, { document: fromZero, task: {}, page: 2, isLast: true });
  await slow.loop.step();
  expect(slow.sent.at(-1)).toMatchObject({ message: expect.stringContaining("; page 1 takes longer.") });
});

test("a document that was deleted while it waited is named", async () => {
  const { loop, sent } = create(async () => void (await Bun.file("/nowhere/deleted.png").bytes()));
  loop.submit(1, page("a"));
  await loop.step();
  const message = "'file' names a file that was deleted.";
  expect(sent.at(-1)).toEqual({ type: "rejected", key: 1, code: "not_found", message, param: "file" });
});

test("a long page gives signs of life, at most one per second", async () => {
  const { loop, told } = create();
  for (let key = 0; key < 4; key++) {
    loop.submit(key, page("a"));
    await loop.step();
  }
  // Eight calls, 600 ms apart.
  expect(told).toEqual(Array.from({ length: 4 }, () => "recognition"));
});
