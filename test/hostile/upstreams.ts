// Upstreams that send what no model server would: endless data, too much at once, or more than fits into memory.

import { createServer, type Socket } from "node:net";
import { freePort } from "../support/free-port.ts";
import type { Row } from "./row.ts";
import { watched } from "./watched.ts";

const SLOWEST_HEALTH_MS = 250;
/** How long an upstream sends when svc does not disconnect. */
const PATIENCE_MS = 15_000;
const MOST_POURED = 300_000_000;

const head = (type: string) => `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n`;
const event = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
const lists = (count: number) => `${"[],".repeat(count)}[]`;

interface Attack {
  /** The data sent once; then the data that repeats. */
  readonly once?: string;
  readonly again?: string;
  readonly path?: string;
}

const ATTACKS: Readonly<Record<string, Attack>> = {
  "endless text": { again: event({ content: "a".repeat(500_000) }) },
  "endless white space": { again: event({ content: "  " }).repeat(500) },
  "millions of events with one token each": { again: event({ content: "a" }).repeat(1000) },
  "endless tool calls": {
    again: event({ tool_calls: [{ id: "", function: { name: "f", arguments: "{}" } }] }).repeat(500),
  },
  "4 million carriage returns": { once: `data: x${"\r".repeat(4_000_000)}` },
  "an event with 5 million lists": { once: `data: {"choices":[${lists(5_000_000)}]}\n\n` },
  "an event with 15 million levels of nesting": { once: `data: ${"[".repeat(15_000_000)}\n\n` },
  "events with 300,000 log probabilities": {
    again: `data: {"choices":[{"logprobs":{"content":[${'{"token":"a"},'.repeat(300_000)}{}]}}]}\n\n`,
  },
  "embeddings of 70 million lists": { once: `{"data":[${lists(70_000_000)}]}`, path: "/v1/embeddings" },
};

/** Sends data until the other side disconnects. */
async function pour(socket: Socket, { once = "", again }: Attack): Promise<void> {
  socket.write(once);
  if (again === undefined) return void socket.end();
  const until = Date.now() + PATIENCE_MS;
  for (let sent = 0; !socket.destroyed && sent < MOST_POURED && Date.now() < until; sent += again.length) {
    socket.write(again);
    do await Bun.sleep(0);
    while (socket.writableNeedDrain && !socket.destroyed);
  }
  socket.end();
}

async function listening(attack: Attack) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const isPost = data.toString("latin1").startsWith("POST");
      socket.write(head(isPost && !attack.path ? "text/event-stream" : "application/json"));
      if (isPost) void pour(socket, attack);
      else socket.end('{"data":[{"id":"far"}]}');
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${port}` };
}

const CHAT = { model: "up/far", messages: [{ role: "user", content: "hi" }] };
const EMBEDDINGS = { model: "up/far", input: "hi" };

async function attacked(name: string, attack: Attack): Promise<Row> {
  const upstream = await listening(attack);
  const flags = ["--no-model", "--upstream", `up=${upstream.url}`];
  const row = await watched(flags, SLOWEST_HEALTH_MS, async ({ url }) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(attack.path ? EMBEDDINGS : CHAT);
    const answer = await fetch(url + (attack.path ?? "/v1/chat/completions"), { method: "POST", headers, body });
    await answer.arrayBuffer();
    return { came: String(answer.status), ok: [502, 503].includes(answer.status) };
  });
  upstream.server.close();
  console.error(`${name}: ${row.figure}`);
  return { promise: "Hostile upstreams do not delay other clients", attack: name, ...row };
}

export async function upstreams(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, attack] of Object.entries(ATTACKS)) rows.push(await attacked(name, attack));
  return rows;
}
