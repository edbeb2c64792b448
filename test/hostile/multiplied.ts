// Input that is small on the wire but expensive to process or store: pipelined requests and events, references, values,
// waiting bodies.
//   bun test/hostile/multiplied.ts

import { RawClient, upgradeRequest } from "../http/raw.ts";
import type { TestServer } from "../support/server.ts";
import { runAlone, type Row } from "./row.ts";
import { watched } from "./watched.ts";

const FLAGS = ["--ctx", "16384", "--parallel", "1", "--threads", "1"];
const SLOWEST_HEALTH_MS = 250;
const ROW_MS = 5000;

const post = (url: string, path: string, body: string | Buffer, signal?: AbortSignal) =>
  fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    ...(signal && { signal }),
  });

/** Sends everything at once on one connection; `begins`: a request that is answered first. */
async function inARow({ port }: TestServer, bytes: Buffer, begins = ""): Promise<string> {
  const client = await RawClient.connect(port);
  const until = Date.now() + ROW_MS;
  client.socket.write(begins);
  while (begins !== "" && client.received === "") await Bun.sleep(5);
  client.socket.write(bytes);
  while (!client.closed && Date.now() < until) await Bun.sleep(20);
  const how = client.closed ? "closed" : "still open";
  client.leave();
  return how;
}

/** Starts an answer that holds the only place. */
function occupied(url: string, signal: AbortSignal): void {
  const body = { messages: [{ role: "user", content: "hi" }], max_tokens: 12_000, ignore_eos: true };
  void post(url, "/v1/chat/completions", JSON.stringify(body), signal).catch(() => {});
}

/** An empty text frame with a mask. */
const EMPTY_MESSAGE = Buffer.from([0x81, 0x80, 0, 0, 0, 0]);
const LISTS = `{"items":[{"type":"web_search_call","blob":[${"[],".repeat(490_000)}[]]}]}`;

const ATTACKS: Readonly<Record<string, (server: TestServer) => Promise<string>>> = {
  "200,000 requests on one connection that waits for no answer": (server) =>
    inARow(server, Buffer.from("GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(200_000))),
  "a million empty messages on a WebSocket": (server) =>
    inARow(server, Buffer.alloc(6_000_000, EMPTY_MESSAGE), upgradeRequest()),
  "a conversation of 49,000 references to one long item": async ({ url }) => {
    const asked = { input: "hi", max_output_tokens: 4000, ignore_eos: true };
    const answer = await post(url, "/v1/responses", JSON.stringify(asked));
    const { output } = (await answer.json()) as { readonly output: readonly { readonly id: string }[] };
    const items = Array.from({ length: 49_000 }, () => ({ id: output.at(-1)?.id }));
    return String((await post(url, "/v1/conversations", JSON.stringify({ items }))).status);
  },
  "60 conversations of 490,000 lists": async ({ url }) => {
    let kept = 0;
    for (let count = 0; count < 60; count++) kept += Number((await post(url, "/v1/conversations", LISTS)).ok);
    return `${kept} × 200`;
  },
  "24 bodies of 60 MB that wait": async ({ url }) => {
    const leave = new AbortController();
    occupied(url, leave.signal);
    const body = Buffer.from(JSON.stringify({ input: "hi", user: "a".repeat(60_000_000) }));
    let refused = 0;
    for (let count = 0; count < 24; count++) {
      const answer = post(url, "/v1/responses", body, leave.signal);
      void answer.then(({ status }) => void (refused += Number(status === 503))).catch(() => {});
      await Bun.sleep(800);
    }
    leave.abort();
    return `${refused} × 503`;
  },
};

async function attacked(name: string, attack: (server: TestServer) => Promise<string>): Promise<Row> {
  const row = await watched(FLAGS, SLOWEST_HEALTH_MS, async (server) => ({ came: await attack(server), ok: true }));
  console.error(`${name}: ${row.figure}`);
  return { promise: "what is small costs little", attack: name, ...row };
}

export async function multiplied(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, attack] of Object.entries(ATTACKS)) rows.push(await attacked(name, attack));
  return rows;
}

if (import.meta.main) await runAlone(multiplied);
