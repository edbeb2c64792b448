// Long work together with short work, in the engines for transcription, speech, images and pages: how soon cancelled
// work stops, how long others wait, and whether clients take turns.

import { dice } from "../support/dice.ts";
import { footprint } from "../support/footprint.ts";
import { drawn, scanned } from "../support/pages.ts";
import { enginesOf, processorTicks } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import { until } from "../support/until.ts";
import { draw, lasting, read, transcribe, recording, say, type Send } from "./engine-client.ts";
import { ENGINE_FLAGS, engineHealth, filesLeft, withTemporaryFolder, type EngineKind } from "./engines.ts";
import type { Row } from "./row.ts";
import { signed } from "./signed.ts";

const CANCEL_MS = 250;
const DEADLINE_MS = 3000;
/** How often the processor time is read. */
const SAMPLING_MS = 50;
/** Several rounds, since each finds the engine in another state. */
const ROUNDS = 2;
const TICK_MS = 10;
/** A process that used fewer hundredths of a second since the last reading counts as idle; one busy core uses five. */
const QUIET_TICKS = 2;
/** Readings in a row that must be quiet: a process may once not have had its turn. */
const QUIET_READINGS = 3;
const SHORT = "Hello there.";
const INPUT = 32_768;
/** Bytes by which a process may have grown after many requests. */
const MOST_GROWTH = 100e6;

type Leave = "id" | "disconnect" | "deadline";

/** Measures the milliseconds from the cancel until the engine is idle, by its own report and by its processor time. */
async function cancelled(
  server: TestServer,
  kind: EngineKind,
  how: Leave,
  long: Send,
): Promise<readonly [number, number]> {
  const id = `turns-${Math.random()}`;
  const leave = new AbortController();
  const deadline = performance.now() + DEADLINE_MS;
  const headers = { "x-request-id": id, ...(how === "deadline" && { "x-svc-deadline-ms": String(DEADLINE_MS) }) };
  const answer = long(server.url, leave.signal, headers).then(
    (response) => response.arrayBuffer(),
    () => {},
  );
  const ended = answer.catch(() => {});
  await until(async () => (await engineHealth(server, kind)).running > 0, Infinity);
  await Bun.sleep(how === "deadline" ? Math.max(0, deadline - performance.now()) : 1500);
  const engines = enginesOf(server.pid, kind);
  const started = performance.now();
  const idle = idleAfter(engines);
  if (how === "disconnect") leave.abort();
  if (how === "id") await fetch(`${server.url}/v1/chat/completions/${id}/cancel`, { method: "POST" });
  await until(async () => (await engineHealth(server, kind)).running === 0, Infinity);
  const told = performance.now() - started;
  const quiet = await idle;
  await ended;
  return [told, quiet];
}

/**
 * Returns the milliseconds until these processes are idle at the latest, or only those that they compute until then, so
 * that a busy machine, on which they wait for their turn, does not count.
 */
async function idleAfter(engines: readonly number[]): Promise<number> {
  const started = performance.now();
  const first = processorTicks(engines);
  let [elapsed, computed] = [0, 0];
  let before = first;
  for (let quiet = 0; quiet < QUIET_READINGS;) {
    await Bun.sleep(SAMPLING_MS);
    const now = processorTicks(engines);
    quiet = now - before < QUIET_TICKS ? quiet + 1 : 0;
    if (quiet === 0) [elapsed, computed] = [performance.now() - started, (now - first) * TICK_MS];
    before = now;
  }
  return Math.min(elapsed, computed);
}

async function cancels(server: TestServer, kind: EngineKind, attack: string, long: Send): Promise<Row[]> {
  const rows: Row[] = [];
  for (const how of ["id", "disconnect", "deadline"] as const) {
    const times: (readonly [number, number])[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await cancelled(server, kind, how, long));
    const most = Math.max(...times.map(([told]) => told));
    const quiet = Math.max(...times.map(([, at]) => at));
    rows.push({
      promise: "Cancelling stops the computation",
      attack: `${attack}, cancelled by ${how}`,
      figure: `${Math.round(most)} ms; processor idle within ${Math.round(quiet)} ms (measured every ${SAMPLING_MS} ms)`,
      limit: `${CANCEL_MS} ms`,
      ok: most < CANCEL_MS && quiet < CANCEL_MS + SAMPLING_MS,
    });
    console.error(rows.at(-1)?.figure);
  }
  return rows;
}

async function milliseconds(answer: Promise<Response>): Promise<number> {
  const started = performance.now();
  const response = await answer;
  const bytes = await response.arrayBuffer();
  if (!response.ok) throw new Error(`${response.status}: ${Buffer.from(bytes).toString()}`);
  return performance.now() - started;
}

/** Returns words that are in no dictionary. */
function unknownWords(): string {
  const roll = dice(7);
  const word = () => Array.from({ length: 10 }, () => String.fromCharCode(97 + roll(26))).join("");
  return Array.from({ length: INPUT }, word).join(" ").slice(0, INPUT);
}

/** Measures a short request, alone and together with eight long ones of another client. */
async function beside(url: string, attack: string, limit: number, short: Send, long: Send): Promise<Row> {
  const once = () => milliseconds(short(url, undefined, { "x-svc-client": "short" }));
  const alone: number[] = [];
  for (let round = 0; round < 3; round++) alone.push(await once());
  const leave = new AbortController();
  const others = Array.from({ length: 8 }, () =>
    long(url, leave.signal, { "x-svc-client": "other" }).then(
      (response) => response.arrayBuffer().catch(() => {}),
      () => {},
    ),
  );
  await Bun.sleep(3000);
  const times: number[] = [];
  for (let round = 0; round < 4; round++) times.push(await once());
  leave.abort();
  await Promise.all(others);
  const [least, most] = [Math.min(...alone), Math.max(...times)];
  return {
    promise: "Clients take turns",
    attack,
    figure: `+${Math.round(most - least)} ms (${Math.round(least)} ms alone, then ${times.map(Math.round).join(", ")} ms)`,
    limit: `+${limit} ms`,
    ok: most - least < limit,
  };
}

const JOBS = 4;
const NAMES = ["a", "b", "c", "d", "e"] as const;
const LEAVES_AFTER_MS = 1500;

/**
 * Sends the jobs of several clients, all of one client after all of another, and records in which order they finish.
 */
async function inTurns(server: TestServer, folder: string, attack: string, send: Send): Promise<Row[]> {
  const { url } = server;
  const held = () => footprint(server.pid, enginesOf(server.pid, "image"));
  const before = held();
  const done: string[] = [];
  const leave = new AbortController();
  const jobs = NAMES.flatMap((name) =>
    Array.from({ length: JOBS }, async (_, job) => {
      const signal = job === JOBS - 1 ? leave.signal : undefined;
      const answer = await send(url, signal, { "x-svc-client": name }).catch(() => undefined);
      await answer?.bytes().catch(() => {});
      if (answer?.ok && !signal) done.push(name);
      return signal !== undefined || answer?.ok === true;
    }),
  );
  setTimeout(() => leave.abort(), LEAVES_AFTER_MS);
  const served = (await Promise.all(jobs)).filter(Boolean).length;
  // How far any client was ahead of one that was still waiting.
  const ahead = done.map((name, at) => {
    const count = (of: string) => done.slice(0, at + 1).filter((other) => other === of).length;
    const waiting = NAMES.map(count).filter((had) => had < JOBS - 1);
    return count(name) - Math.min(count(name), ...waiting);
  });
  await server.untilIdle(30_000);
  const after = held();
  const grown = Math.max(after.front - before.front, after.engine - before.engine);
  const left = filesLeft(folder);
  return [
    {
      promise: "Clients take turns",
      attack,
      figure: `${served - NAMES.length} served, in the order ${done.join("")}`,
      limit: "all served, no client two ahead of another",
      ok: done.length === NAMES.length * (JOBS - 1) && Math.max(...ahead) <= 1,
    },
    {
      promise: "Nothing leaks: files, descriptors, memory",
      attack,
      figure: `${left} files, no request, ${signed(grown / 1e6)} MB, ${after.files - before.files} connections kept open (at most ${jobs.length})`,
      limit: `nothing left, +${MOST_GROWTH / 1e6} MB`,
      ok: left === 0 && after.files - before.files <= jobs.length && grown < MOST_GROWTH,
    },
  ];
}

async function attacked(folder: string): Promise<Row[]> {
  const rows: Row[] = [];
  const speech = await recording();
  const page = await drawn({ lines: Array.from({ length: 30 }, () => SHORT) }, 150);
  const longTalk = transcribe(lasting(speech, 300));
  const longText = (input: string) => say({ input, response_format: "pcm" });
  const strange = longText(unknownWords());
  const longDrawing = draw({ n: 10, steps: 150 });
  const manyPages = read(scanned(page, 50));
  const clip = transcribe(lasting(speech, 3));
  const sentence = say({ input: SHORT });
  const onePage = read(scanned(page, 1));
  await withServer(ENGINE_FLAGS, async (server) => {
    const { url } = server;
    for (const first of [clip, sentence, draw(), onePage]) await milliseconds(first(url));
    const long = [
      ["transcription", "a recording of 5 minutes", longTalk],
      ["speech", "a text of 32,000 characters", longText("The quick brown fox jumps over the lazy dog. ".repeat(700))],
      ["speech", "unknown words", strange],
      ["image", "10 images of 150 steps", longDrawing],
      ["recognition", "a document of 50 pages", manyPages],
    ] as const;
    for (const [kind, what, send] of long) rows.push(...(await cancels(server, kind, what, send)));
    rows.push(await beside(url, "a sentence beside 8 long texts of unknown words", 1500, sentence, strange));
    rows.push(await beside(url, "a clip of 3 s beside 8 recordings of 5 minutes", 8000, clip, longTalk));
    rows.push(
      await beside(url, "an image of 4 steps beside 8 requests for 10 images of 150 steps", 8000, draw(), longDrawing),
    );
    rows.push(await beside(url, "a page beside 8 documents of 50 pages", 8000, onePage, manyPages));
    const what = `${NAMES.length * JOBS} images for ${NAMES.length} clients, ${NAMES.length} of them cancelled`;
    rows.push(...(await inTurns(server, folder, what, draw({ steps: 30 }))));
  });
  return rows;
}

export const engineTurns = (): Promise<Row[]> => withTemporaryFolder(attacked);
