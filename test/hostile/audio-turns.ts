// Long recordings and texts beside short ones: how soon a cancelled one stops, and how long the others wait.
//   bun test/hostile/audio-turns.ts

import { readFileSync } from "node:fs";
import { dice } from "../support/dice.ts";
import { withServer, type TestServer } from "../support/server.ts";
import {
  AUDIO_FLAGS,
  engineHealth,
  engineOf,
  lasting,
  recognise,
  recording,
  say,
  type AudioKind,
} from "./audio-client.ts";
import { runAlone, type Row } from "./row.ts";

const CANCEL_MS = 250;
const DEADLINE_MS = 3000;
/** Several, since each meets the engine elsewhere. */
const ROUNDS = 3;
/** A process that uses less than this of a quarter of a second does nothing for anybody. */
const QUIET_TICKS = 5;
const SHORT = "Hello there.";
const INPUT = 32_768;

type Leave = "id" | "disconnect" | "deadline";

/** Hundredths of a second of processor time that a process has used. */
function ticks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(5);
}

/** Milliseconds from the cancel to an engine that runs nothing by its own word, and by the processor time it uses. */
async function cancelled(
  server: TestServer,
  kind: AudioKind,
  how: Leave,
  long: Long,
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
  await until(async () => (await engineHealth(server, kind)).running === 1);
  const pid = engineOf(server, kind) ?? 0;
  await Bun.sleep(how === "deadline" ? Math.max(0, deadline - performance.now()) : 1500);
  const started = performance.now();
  if (how === "disconnect") leave.abort();
  if (how === "id") await fetch(`${server.url}/v1/chat/completions/${id}/cancel`, { method: "POST" });
  await until(async () => (await engineHealth(server, kind)).running === 0);
  const told = performance.now() - started;
  let quiet = performance.now();
  for (let before = ticks(pid); ;) {
    quiet = performance.now();
    await Bun.sleep(250);
    const now = ticks(pid);
    if (now - before < QUIET_TICKS) break;
    before = now;
  }
  await ended;
  return [told, quiet - started];
}

type Long = (url: string, signal: AbortSignal, headers: Record<string, string>) => Promise<Response>;

async function cancels(server: TestServer, kind: AudioKind, attack: string, long: Long): Promise<Row[]> {
  const rows: Row[] = [];
  for (const how of ["id", "disconnect", "deadline"] as const) {
    const times: (readonly [number, number])[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await cancelled(server, kind, how, long));
    const most = Math.max(...times.map(([told]) => told));
    const quiet = Math.max(...times.map(([, at]) => at));
    rows.push({
      promise: "a cancel ends the work",
      attack: `${attack}, cancelled by ${how}`,
      figure: `${Math.round(most)} ms; processor quiet after ${Math.round(quiet)} ms at most`,
      limit: `${CANCEL_MS} ms`,
      ok: most < CANCEL_MS,
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

/** Words that no dictionary has. */
function unknownWords(): string {
  const roll = dice(7);
  const word = () => Array.from({ length: 10 }, () => String.fromCharCode(97 + roll(26))).join("");
  return Array.from({ length: INPUT }, word).join(" ").slice(0, INPUT);
}

/** A short one, alone and beside eight long ones of another client. */
async function beside(
  attack: string,
  limit: number,
  short: () => Promise<Response>,
  long: Long,
  url: string,
): Promise<Row> {
  const alone: number[] = [];
  for (let round = 0; round < 3; round++) alone.push(await milliseconds(short()));
  const leave = new AbortController();
  const others = Array.from({ length: 8 }, () =>
    long(url, leave.signal, { "x-svc-client": "other" }).then(
      (response) => response.arrayBuffer().catch(() => {}),
      () => {},
    ),
  );
  await Bun.sleep(3000);
  const times: number[] = [];
  for (let round = 0; round < 4; round++) times.push(await milliseconds(short()));
  leave.abort();
  await Promise.all(others);
  const [least, most] = [Math.min(...alone), Math.max(...times)];
  return {
    promise: "clients take turns",
    attack,
    figure: `${Math.round(least)} ms alone, ${times.map(Math.round).join(", ")} ms`,
    limit: `${limit} ms more`,
    ok: most - least < limit,
  };
}

export async function audioTurns(): Promise<Row[]> {
  const rows: Row[] = [];
  const speech = await recording();
  const [clip, minutes] = [lasting(speech, 3), lasting(speech, 300)];
  const [text, strange] = ["The quick brown fox jumps over the lazy dog. ".repeat(700), unknownWords()];
  const talk: Long = (url, signal, headers) => recognise(url, minutes, { signal, headers });
  const read =
    (input: string): Long =>
    (url, signal, headers) =>
      say(url, { input, response_format: "pcm" }, { signal, headers });
  await withServer(AUDIO_FLAGS, async (server) => {
    const { url } = server;
    await milliseconds(recognise(url, clip));
    await milliseconds(say(url, { input: SHORT }));
    rows.push(...(await cancels(server, "transcription", "a recording of 5 minutes", talk)));
    rows.push(...(await cancels(server, "speech", "a text of 32,000 characters", read(text))));
    rows.push(...(await cancels(server, "speech", "unknown words", read(strange))));
    const headers = { "x-svc-client": "short" };
    const short = () => say(url, { input: SHORT }, { headers });
    const heard = () => recognise(url, clip, { headers });
    rows.push(await beside("a sentence beside 8 long texts of unknown words", 1500, short, read(strange), url));
    rows.push(await beside("a clip of 3 s beside 8 recordings of 5 minutes", 8000, heard, talk, url));
  });
  return rows;
}

if (import.meta.main) await runAlone(audioTurns);
