// The recognition engine with its real processes.

import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock, type Timers } from "../../../src/domain/clock.ts";
import type { RecognitionEvent, RecognitionWork } from "../../../src/domain/recognition.ts";
import type { PpocrFiles } from "../../../src/engine/recognition/protocol.ts";
import { RecognitionEngine } from "../../../src/engine/recognition/recognition-engine.ts";
import { endlessPage } from "../../hostile/hostile-documents.ts";
import { sharedFolder } from "../../support/folders.ts";
import { testLaunch } from "../../support/launch.ts";
import { drawn, pdfOf, pngOf } from "../../support/pages.ts";
import { CHARACTERS, directorBytes, finderBytes, readerBytes } from "../../support/ppocr-bytes.ts";
import { childrenOf } from "../../support/processes.ts";
import { TestClock } from "../../support/test-clock.ts";
import { english, NO_ENGLISH } from "../../support/tessdata.ts";
import { rejection } from "../../support/thrown.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(120_000);
const folder = sharedFolder();
const engines: RecognitionEngine[] = [];

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
});

function create(
  processes = 1,
  clock: Timers = systemClock,
  engineTimeoutMs = 0,
  ppocr?: PpocrFiles,
): RecognitionEngine {
  const engine = new RecognitionEngine({
    engine: { ...(ppocr && { ppocr }) },
    model: { id: "tesseract", created: 7 },
    launch: testLaunch({ engineTimeoutMs, clock }),
    idleMs: 0,
    processes,
  });
  engines.push(engine);
  return engine;
}

const live = () => new AbortController().signal;
function workOn(name: string, content: Uint8Array, more: Partial<RecognitionWork> = {}): RecognitionWork {
  const path = join(folder, name);
  writeFileSync(path, content);
  return { path, field: "file", task: english ? { text: english } : {}, maxPages: 50, ...more };
}
const run = (engine: RecognitionEngine, work: RecognitionWork, signal = live(), client = "me") =>
  Array.fromAsync(engine.run({ work, client }, signal));
const textsOf = (events: readonly RecognitionEvent[]) =>
  events.flatMap((event) => (event.type === "page" ? [event.page.lines.map(({ text }) => text)] : []));
const ownChild = (before: readonly number[]) => childrenOf(process.pid).find((pid) => !before.includes(pid)) ?? 0;

const three = pdfOf(["One", "Two", "Three"].map((word) => ({ lines: [`${word} is the page`] })));

test("a document comes page by page, whole or in part", async () => {
  const engine = create();
  expect(engine.status()).toMatchObject({ state: "unloaded", modelId: "tesseract", created: 7 });
  const events = await run(engine, workOn("three.pdf", three));
  expect(events.map(({ type }) => type)).toEqual(["accepted", "started", "page", "page", "page", "result"]);
  expect(events.at(-1)).toEqual({ type: "result", pageCount: 3 });
  expect(textsOf(events)).toEqual([["One is the page"], ["Two is the page"], ["Three is the page"]]);
  const some = await run(
    engine,
    workOn("three.pdf", three, { pages: [{ first: 3 }, { first: 1, last: 1 }, { first: 3, last: 3 }], maxPages: 2 }),
  );
  expect(textsOf(some)).toEqual([["One is the page"], ["Three is the page"]]);
  expect(some.find(({ type }) => type === "page")).toMatchObject({ of: 2, page: { number: 1, source: "text" } });
  expect(await rejection(run(engine, workOn("three.pdf", three, { maxPages: 2 })))).toEqual([
    "unprocessable_media",
    "max_pages",
  ]);
  expect(await rejection(run(engine, workOn("three.pdf", three, { pages: [{ first: 4 }] })))).toEqual([
    "invalid_value",
    "pages",
  ]);
  expect(await rejection(run(engine, workOn("text.txt", Buffer.from("plain"))))).toEqual([
    "unsupported_media_input",
    "file",
  ]);
  expect(engine.status()).toMatchObject({ state: "ready", running: 0, waiting: 0, restarts: 0 });
});

test("with several processes pages are read side by side and come in their order", async () => {
  const before = childrenOf(process.pid);
  const engine = create(2);
  expect(engine.parallel).toBe(2);
  const events = await run(engine, workOn("three.pdf", three));
  expect(textsOf(events)).toEqual([["One is the page"], ["Two is the page"], ["Three is the page"]]);
  expect(childrenOf(process.pid)).toHaveLength(before.length + 2);
  expect(engine.status()).toMatchObject({ state: "ready", running: 0, waiting: 0, restarts: 0 });
  await engine.stop();
  expect(childrenOf(process.pid)).toHaveLength(before.length);
});

test("the first of the pages that are wanted comes as a picture", async () => {
  const events = await run(create(2), workOn("three.pdf", three, { task: { picture: true }, pages: [{ first: 2 }] }));
  const pages = events.flatMap((event) => (event.type === "page" ? [event.page] : []));
  expect(pages.map(({ number, picture }) => [number, picture?.subarray(1, 4)])).toEqual([
    [2, Uint8Array.from(Buffer.from("PNG"))],
    [3, undefined],
  ]);
});

test("PP-OCR reads once its files are repaired", async () => {
  const file = (name: string, content: string | Uint8Array) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const reader = file("reader.onnx", readerBytes().subarray(0, 100));
  const nets = { finder: file("finder.onnx", finderBytes()), director: file("director.onnx", directorBytes()) };
  const engine = create(1, systemClock, 0, { ...nets, reader, characters: join(folder, "characters.txt") });
  const data = new Uint8Array(600 * 300).fill(255);
  for (let y = 100; y < 120; y++) data.fill(0, y * 600 + 100, y * 600 + 200);
  const text = { engine: "ppocr", languages: [], level: "accurate", correction: false } as const;
  const work = workOn("bar.png", await pngOf({ width: 600, height: 300, data }), { task: { text } });
  expect(await rejection(run(engine, work))).toEqual(["engine_unavailable", undefined]);
  writeFileSync(reader, readerBytes());
  // Another file is still missing: not the one that the client sent.
  expect(await rejection(run(engine, work))).toEqual(["engine_unavailable", undefined]);
  file("characters.txt", CHARACTERS);
  expect(textsOf(await run(engine, work))).toEqual([[expect.stringMatching(/^[ab]+$/)]]);
  expect(engine.status()).toMatchObject({ state: "ready", restarts: 0 });
});

describe.skipIf(!english)(`pictures of text (${NO_ENGLISH})`, () => {
  const LINE = "Words of which there are many on every line of this page, so that it takes long.";
  let dense: Promise<Uint8Array> | undefined;
  const densePage = () =>
    (dense ??= drawn({ lines: Array.from({ length: 40 }, () => LINE), size: 12 }, 200).then(pngOf));
  const plain = async (line: string) =>
    workOn(`${line}.png`, await pngOf(await drawn({ lines: [line], paper: [300, 150] })));

  /** A page of which the recognition has begun: how it ends. */
  async function begun(engine: RecognitionEngine, signal = live()) {
    const outcome = rejection(run(engine, workOn("dense.png", await densePage()), signal, "other"));
    await until(() => engine.status().running === 1);
    // Counting its pages takes a moment, reading the page seconds.
    await Bun.sleep(300);
    return { outcome };
  }

  test("are read; one that nobody waits for any more makes room for the next at once", async () => {
    const engine = create();
    const work = await plain("Some words here");
    expect(textsOf(await run(engine, work))).toEqual([["Some words here"]]);
    const leave = new AbortController();
    const { outcome } = await begun(engine, leave.signal);
    const waiting = run(engine, work);
    leave.abort("gone");
    expect(await outcome).toBe("gone");
    expect(textsOf(await waiting)).toEqual([["Some words here"]]);
    expect(engine.status()).toMatchObject({ running: 0, waiting: 0, restarts: 0 });
  });

  test("of one client are read beside those of another, whose process dies", async () => {
    const engine = create(2);
    const work = await plain("Beside it");
    const known = childrenOf(process.pid);
    const { outcome } = await begun(engine);
    // The first of two is at work, so this takes the other one.
    expect(textsOf(await run(engine, work))).toEqual([["Beside it"]]);
    expect(engine.status()).toMatchObject({ running: 1, waiting: 0 });
    process.kill(ownChild(known), "SIGKILL");
    expect(await outcome).toEqual(["engine_crashed", undefined]);
    expect(textsOf(await run(engine, work))).toEqual([["Beside it"]]);
  });

  test("fail when the process dies under them; others go on with its successor", async () => {
    const before = childrenOf(process.pid);
    const engine = create();
    const work = await plain("Still here");
    await run(engine, work);
    const { outcome } = await begun(engine);
    const waiting = run(engine, work);
    process.kill(ownChild(before), "SIGKILL");
    expect(await outcome).toEqual(["engine_crashed", undefined]);
    expect(textsOf(await waiting)).toEqual([["Still here"]]);
    expect(engine.status()).toMatchObject({ state: "ready", restarts: 1 });
  });
});

test("a page that is drawn for ever is its document's fault, and the next one is read", async () => {
  const clock = new TestClock();
  const engine = create(1, clock, 60_000);
  const page = workOn("page.pdf", pdfOf([{ lines: ["A page"] }]), { task: {} });
  await run(engine, page);
  let outcome: unknown;
  const endless = run(engine, workOn("endless.pdf", endlessPage(), { task: { barcodes: true } }));
  void rejection(endless).then((end) => (outcome = end));
  await until(() => engine.status().running === 1);
  const next = run(engine, page);
  for (; outcome === undefined; await Bun.sleep(1)) clock.pass(1000);
  expect(outcome).toEqual(["unprocessable_media", "file"]);
  expect((await next).at(-1)).toEqual({ type: "result", pageCount: 1 });
  expect(engine.status()).toMatchObject({ state: "ready", restarts: 0 });
});
