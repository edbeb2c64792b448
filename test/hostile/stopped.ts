// An engine process that is suspended (SIGSTOP): briefly, too long, while loading, and one of every other kind.

import { streamChat } from "../support/chat-client.ts";
import { enginesOf } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import { oneOfEach, post, type Send } from "./engine-client.ts";
import { ENGINE_KINDS, type EngineKind } from "./engines.ts";
import type { Row } from "./row.ts";

const FLAGS = ["--ctx", "16384", "--parallel", "4", "--threads", "1", "--heartbeat", "1"];
const STREAMS = 4;
const long = { messages: [{ role: "user", content: "Tell a long story about the sea." }], max_tokens: 1500 };
const short = { messages: [{ role: "user", content: "Hello" }], max_tokens: 8 };

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

async function untilState(server: TestServer, state: string): Promise<number> {
  const started = performance.now();
  while ((await server.health()).engine.state !== state) await Bun.sleep(20);
  return performance.now() - started;
}

/** Starts streams and one more request that waits for a place, then suspends the engine. */
async function stopUnderStreams(server: TestServer) {
  const streams = Array.from({ length: STREAMS }, () => streamChat(server.url, long));
  while ((await server.levels()).running < STREAMS) await Bun.sleep(5);
  const waiting = streamChat(server.url, short);
  while ((await server.levels()).waiting < 1) await Bun.sleep(5);
  const pid = server.enginePid();
  process.kill(pid, "SIGSTOP");
  return { streams, waiting, goOn: () => process.kill(pid, "SIGCONT") };
}

async function pausedFor(stoppedMs: number): Promise<Row> {
  let [figure, ok] = ["", false];
  await withServer(FLAGS, async (server) => {
    const { streams, waiting, goOn } = await stopUnderStreams(server);
    const stopped = performance.now();
    let seen = "";
    while (performance.now() - stopped < stoppedMs) {
      const { state } = (await server.health()).engine;
      if (!seen.endsWith(state)) seen += `${seen && ", then "}${state}`;
      await Bun.sleep(50);
    }
    const isStalled = seen.endsWith("stalled");
    const late = isStalled ? await post("/v1/chat/completions", short)(server.url) : undefined;
    const retry = late?.headers.get("retry-after");
    goOn();
    const whole = (await Promise.all(streams)).filter(({ done, finishReason }) => done && finishReason).length;
    const served = (await waiting).finishReason !== undefined;
    await server.untilReady();
    const { restarts } = (await server.health()).engine;
    const told = late ? `; a new request: ${late.status}, Retry-After ${retry}` : "";
    figure = `/health: ${seen}${told}; ${whole} of ${STREAMS} streams complete, queued request ${served ? "served" : "lost"}, ${restarts} restarts`;
    ok = whole === STREAMS && served && restarts === 0 && (!late || (late.status === 503 && Number(retry) > 0));
    await server.untilIdle(10_000);
  });
  const attack = `the engine is suspended for ${stoppedMs / 1000} s`;
  return { promise: "A pause of the engine loses nothing", attack, figure, limit: "nothing lost", ok };
}

const LIMIT_S = 20;
const limited = [...FLAGS, "--engine-timeout", String(LIMIT_S)];

async function tooLong(): Promise<Row> {
  let [figure, ok] = ["", false];
  await withServer(limited, async (server) => {
    const { streams, waiting } = await stopUnderStreams(server);
    const started = performance.now();
    const stalledMs = await untilState(server, "stalled");
    const ends = await Promise.all(streams);
    const endedMs = performance.now() - started;
    const typed = ends.filter(({ done, error }) => done && error?.code === "engine_crashed").length;
    const { finishReason } = await waiting;
    const next = await streamChat(server.url, short);
    const servedMs = performance.now() - started;
    const { restarts } = (await server.health()).engine;
    figure =
      `stalled after ${seconds(stalledMs)}; ${typed} of ${STREAMS} streams with a typed error after ${seconds(endedMs)}; ` +
      `queued request ${finishReason ? "served" : "lost"}; next client served after ${seconds(servedMs)}; ${restarts} restart`;
    ok = typed === STREAMS && finishReason !== undefined && next.finishReason !== undefined && restarts === 1;
    await server.untilIdle(10_000);
  });
  const attack = `the engine hangs (--engine-timeout ${LIMIT_S})`;
  return {
    promise: "An engine that hangs is replaced",
    attack,
    figure,
    limit: "all requests end, next client served",
    ok,
  };
}

/**
 * `loading`: suspends the engine as soon as it has started; otherwise after its first answer. An engine of this kind
 * answers `send`.
 */
async function engineStopped(kind: EngineKind | "embedding", send: Send, when: "loading" | "ready"): Promise<Row> {
  let [figure, ok] = ["", false];
  await withServer(limited, async (server) => {
    const first = send(server.url);
    if (when === "ready") await (await first).bytes();
    let pid: number | undefined;
    // Found by its command: until the process runs its own command, the server waits for it and would hang as well.
    while (pid === undefined) [pid] = enginesOf(server.pid, kind);
    process.kill(pid, "SIGSTOP");
    const started = performance.now();
    const stopped = await (when === "ready" ? send(server.url) : first);
    const endedMs = performance.now() - started;
    const text = await stopped.text();
    const { error } = stopped.ok ? {} : (JSON.parse(text) as { error?: { code: string } });
    let next = await send(server.url);
    for (; !next.ok; next = await send(server.url)) await Bun.sleep(200);
    await next.bytes();
    const servedMs = performance.now() - started;
    const told = stopped.ok ? "completed by the new process" : `${stopped.status} ${error?.code}`;
    figure = `running request: ${told} after ${seconds(endedMs)}; next client served after ${seconds(servedMs)}`;
    ok = stopped.ok || error?.code === "engine_unavailable" || error?.code === "engine_crashed";
  });
  const attack = `the engine for ${kind} hangs ${when === "ready" ? "after it was ready" : "while loading"} (--engine-timeout ${LIMIT_S})`;
  return {
    promise: "An engine that hangs is replaced",
    attack,
    figure,
    limit: "all requests end, next client served",
    ok,
  };
}

export async function stopped(): Promise<Row[]> {
  const rows = [await pausedFor(5000), await pausedFor(15_000), await tooLong()];
  const next = { embedding: post("/v1/embeddings", { input: "the sea" }), ...(await oneOfEach()) };
  for (const kind of ["embedding", ...ENGINE_KINDS] as const) {
    for (const when of ["ready", "loading"] as const) {
      const row = await engineStopped(kind, next[kind], when);
      console.error(`${row.attack}: ${row.figure}`);
      rows.push(row);
    }
  }
  return rows;
}
