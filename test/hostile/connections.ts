// Connections that are held open: thousands of idle ones, more than there are descriptors, readers and writers that
// stop midway.

import { connect, type Socket } from "node:net";
import { streamChat } from "../support/chat-client.ts";
import { openFiles, residentBytes } from "../support/processes.ts";
import { PROGRAM, withServer, type TestServer } from "../support/server.ts";
import type { Row } from "./row.ts";
import { signed } from "./signed.ts";

const FLAGS = ["--ctx", "16384", "--parallel", "8", "--threads", "1"];
const short = { messages: [{ role: "user", content: "Hello" }], max_tokens: 8 };
const MB = 1_000_000;

/** A connection that is held open, and its result. */
class Held {
  received = "";
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.on("data", (chunk) => (this.received += chunk.toString("latin1")));
    socket.on("close", () => (this.closed = true));
    socket.on("error", () => {});
  }

  /** Connects and sends this text; resolves when it is sent, or the connection was refused. */
  static open(port: number, text = ""): Promise<Held> {
    return new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        if (text) socket.write(text);
        resolve(held);
      });
      const held = new Held(socket);
      socket.once("error", () => resolve(held));
    });
  }

  static async many(count: number, port: number, text = ""): Promise<Held[]> {
    const all: Held[] = [];
    // No more at once than the accept queue holds.
    while (all.length < count) {
      const next = Math.min(100, count - all.length);
      all.push(...(await Promise.all(Array.from({ length: next }, () => Held.open(port, text)))));
    }
    return all;
  }
}

const stillOpen = (all: readonly Held[]) => all.filter(({ closed }) => !closed).length;

/** Returns the seconds until all are closed, at most `seconds`. */
async function untilClosed(all: readonly Held[], seconds: number): Promise<number> {
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  while (stillOpen(all) > 0 && elapsed() < seconds) await Bun.sleep(100);
  return elapsed();
}

/** Returns the seconds until a new client gets a whole answer; undefined when that takes too long. */
async function nextAnswer({ port }: TestServer, seconds = 10): Promise<number | undefined> {
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  const client = await Held.open(port, post(JSON.stringify(short)));
  while (!client.received.includes('"finish_reason"') && elapsed() < seconds) await Bun.sleep(5);
  client.socket.destroy();
  return client.received.includes('"finish_reason"') ? elapsed() : undefined;
}

const told = (seconds: number | undefined) =>
  seconds === undefined ? "not served" : `served in ${seconds.toFixed(2)} s`;

const closedText = (left: number, seconds: number) =>
  `${left === 0 ? "all closed" : `all but ${left} closed`} after ${seconds.toFixed(0)} s`;

const GET_HEALTH = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

const IDLE_SECONDS = 90;

async function idle(): Promise<Row> {
  let figure = "";
  let ok = false;
  await withServer(FLAGS, async (server) => {
    await nextAnswer(server);
    const before = residentBytes(server.pid);
    const all = [...(await Held.many(5000, server.port)), ...(await Held.many(5000, server.port, GET_HEALTH))];
    const next = await nextAnswer(server);
    const grown = (residentBytes(server.pid) - before) / MB;
    const seconds = await untilClosed(all, 120);
    const left = stillOpen(all);
    figure = `${closedText(left, seconds)}; next client ${told(next)}, ${signed(grown)} MB`;
    ok = next !== undefined && left === 0 && seconds <= IDLE_SECONDS;
    for (const { socket } of all) socket.destroy();
  });
  const attack = "10,000 idle connections, half of them after a request";
  return {
    promise: "Idle connections are cheap and are closed",
    attack,
    figure,
    limit: `${IDLE_SECONDS} s, next client served`,
    ok,
  };
}

const DESCRIPTORS = 64;

async function fewDescriptors(): Promise<Row> {
  let figure = "";
  let ok = false;
  const command = ["bash", "-c", `ulimit -n ${DESCRIPTORS}; exec "$@"`, "bash", ...PROGRAM];
  await withServer(
    FLAGS,
    async (server) => {
      const stream = streamChat(server.url, { ...short, max_tokens: 1500 });
      while ((await server.levels()).running < 1) await Bun.sleep(10);
      const all = await Held.many(200, server.port);
      while (openFiles(server.pid) < DESCRIPTORS) await Bun.sleep(10);
      const next = await nextAnswer(server, 60);
      const { done } = await stream;
      for (const { socket } of all) socket.destroy();
      const later = await nextAnswer(server);
      const { restarts } = (await server.health()).engine;
      figure = `stream ${done ? "complete" : "cut"}, next client ${told(next)}, then ${told(later)}, ${restarts} restarts`;
      ok = done && next !== undefined && later !== undefined && restarts === 0;
    },
    command,
  );
  const attack = `${DESCRIPTORS} descriptors, 200 silent connections`;
  return { promise: "svc survives running out of file descriptors", attack, figure, limit: "60 s", ok };
}

const post = (body: string, length = body.length) =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

const READING_SECONDS = 300;

async function slowReaders(): Promise<Row> {
  let figure = "";
  let ok = false;
  await withServer(FLAGS, async (server) => {
    await nextAnswer(server);
    const alone = (await nextAnswer(server)) ?? 0;
    const before = residentBytes(server.pid);
    const body = JSON.stringify({
      ...short,
      max_tokens: 1500,
      stream: true,
      ignore_eos: true,
      logprobs: true,
      top_logprobs: 20,
    });
    const readers = await Held.many(6, server.port, post(body));
    let worst = 0;
    for (const { socket } of readers) socket.pause();
    for (let second = 0; second < READING_SECONDS; second++) {
      for (const { socket } of readers) socket.read(1);
      worst = Math.max(worst, (await nextAnswer(server)) ?? Infinity);
      await Bun.sleep(1000);
    }
    const grown = (residentBytes(server.pid) - before) / MB;
    const cut = readers.length - stillOpen(readers);
    for (const { socket } of readers) socket.destroy();
    await server.untilIdle(10_000);
    figure = `next client in ${worst.toFixed(2)} s at worst (alone ${alone.toFixed(2)} s), ${signed(grown)} MB, ${cut} disconnected`;
    ok = worst < 10 && grown < 100 && cut === 0;
  });
  const attack = `6 readers of 1 byte/s for ${READING_SECONDS / 60} minutes`;
  return {
    promise: "Slow readers do not delay other clients",
    attack,
    figure,
    limit: "+100 MB, none disconnected",
    ok,
  };
}

const HALF_SECONDS = 40;

async function halfBodies(): Promise<Row> {
  let figure = "";
  let ok = false;
  await withServer(FLAGS, async (server) => {
    await nextAnswer(server);
    const before = residentBytes(server.pid);
    const all = await Held.many(200, server.port, post("x".repeat(100_000), 50 * MB));
    const next = await nextAnswer(server);
    const grown = (residentBytes(server.pid) - before) / MB;
    const seconds = await untilClosed(all, 60);
    const typed = all.filter(({ received }) => received.includes('"code":"request_timeout"')).length;
    figure = `${typed} of ${all.length} got 408, ${closedText(stillOpen(all), seconds)}; next client ${told(next)}, ${signed(grown)} MB`;
    ok = next !== undefined && typed === all.length && stillOpen(all) === 0 && seconds <= HALF_SECONDS;
  });
  const attack = "200 uploads that stop after 0.1 of 50 MB";
  return {
    promise: "Stalled uploads end with 408",
    attack,
    figure,
    limit: `${HALF_SECONDS} s`,
    ok,
  };
}

export const connections = async (): Promise<Row[]> => [
  await idle(),
  await fewDescriptors(),
  await slowReaders(),
  await halfBodies(),
];
