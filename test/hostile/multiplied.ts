// Input that is small on the wire but expensive to process or store: pipelined requests and events, references, values,
// waiting bodies, large answers.

import { RawClient, upgradeRequest } from "../http/raw.ts";
import { pdfOfObjects, pdfStream } from "../support/pages.ts";
import type { TestServer } from "../support/server.ts";
import type { Options, Row } from "./row.ts";
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

/** Bytes that are written at once: the rest of a long buffer is copied again and again. */
const SLICE = 256 * 1024;

/** Sends everything at once on one connection; `begins`: a request that is answered first. */
async function inARow({ port }: TestServer, bytes: Buffer, begins = "", forMs = ROW_MS): Promise<string> {
  const client = await RawClient.connect(port);
  const until = Date.now() + forMs;
  client.socket.write(begins);
  while (begins !== "" && client.received === "") await Bun.sleep(5);
  for (let at = 0; at < bytes.length && !client.closed && Date.now() < until; at += SLICE) {
    client.socket.write(bytes.subarray(at, at + SLICE));
    while (client.socket.writableNeedDrain && !client.closed && Date.now() < until) await Bun.sleep(1);
  }
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
const LIVE_SESSIONS = 12;
/** Opens sessions of /v1/realtime that each send these events at once; ends them after a while. */
const live =
  (events: readonly object[], sessions = LIVE_SESSIONS, forMs = ROW_MS) =>
  async (server: TestServer) => {
    const frames = Buffer.concat(events.map((event) => textFrame(JSON.stringify(event))));
    const ends = await Promise.all(
      Array.from({ length: sessions }, () => inARow(server, frames, upgradeRequest(), forMs)),
    );
    return `${ends.length} sessions`;
  };
/** All sessions that a server allows by default. */
const ALL_SESSIONS = 16;

/** Characters that are left for one header, or for the path, in the head of a request. */
const HEAD = 15_500;
/** Sends requests without a body at once, each on its own connection; tells their statuses. */
async function answered({ port }: TestServer, count: number, target: string, header = "X: x"): Promise<string> {
  const clients = await Promise.all(Array.from({ length: count }, () => RawClient.connect(port)));
  for (const { socket } of clients) socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`);
  const until = Date.now() + ROW_MS;
  while (clients.some(({ received }) => received === "") && Date.now() < until) await Bun.sleep(5);
  for (const client of clients) client.leave();
  const counts = Map.groupBy(clients, ({ received }) => received.split(" ")[1] ?? "no answer");
  return [...counts].map(([status, all]) => `${all.length} × ${status}`).join(", ");
}

/** Returns a text message of a WebSocket client, with a mask of zeros. */
function textFrame(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(14);
  head[0] = 0x81;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(bytes.length), 2);
  return Buffer.concat([head, bytes]);
}

/** Returns a document whose pages all show the same 1,000 characters, each as a word. */
function samePages(count: number): Uint8Array<ArrayBuffer> {
  const page =
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9999 842] /Contents 4 0 R /Resources << /Font << /F 3 0 R >> >> >>";
  const kids = Array.from({ length: count }, (_, at) => `${5 + at} 0 R`).join(" ");
  return pdfOfObjects([
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    pdfStream(Buffer.from(`BT /F 4 Tf 9 9 Td (${"a ".repeat(1000)}) Tj ET`)),
    ...Array.from({ length: count }, () => page),
  ]);
}

async function upload(url: string, content: string): Promise<Response> {
  const body = new FormData();
  body.append("purpose", "batch");
  body.append("file", new Blob([content]), "lines.jsonl");
  return fetch(`${url}/v1/files`, { method: "POST", body });
}

const LISTS = `{"items":[{"type":"web_search_call","blob":[${"[],".repeat(490_000)}[]]}]}`;

const ATTACKS: Readonly<Record<string, (server: TestServer) => Promise<string>>> = {
  "200,000 pipelined requests on one connection": (server) =>
    inARow(server, Buffer.from("GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(200_000))),
  "a million empty WebSocket messages": (server) =>
    inARow(server, Buffer.alloc(6_000_000, EMPTY_MESSAGE), upgradeRequest()),
  "64 requests for a path of 15,500 slashes": (server) => answered(server, 64, `/page${"/".repeat(HEAD)}x`),
  "64 downloads with 15,500 spaces in Range": async (server) => {
    const { id } = (await (await upload(server.url, "{}\n")).json()) as { readonly id: string };
    return answered(server, 64, `/v1/files/${id}/content`, `Range: bytes=1-${" ".repeat(HEAD)}x`);
  },
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
  "24 queued bodies of 60 MB": async ({ url }) => {
    const leave = new AbortController();
    occupied(url, leave.signal);
    const messages = [{ role: "user", content: "hi" }];
    const body = Buffer.from(JSON.stringify({ messages, user: "a".repeat(60_000_000) }));
    let refused = 0;
    for (let count = 0; count < 24; count++) {
      const answer = post(url, "/v1/chat/completions", body, leave.signal);
      void answer.then(({ status }) => void (refused += Number(status === 503))).catch(() => {});
      await Bun.sleep(800);
    }
    leave.abort();
    return `${refused} × 503`;
  },
  "12 live sessions that send 4 × 11 MB of sound each": live(
    Array.from({ length: 4 }, () => ({ type: "input_audio_buffer.append", audio: "A".repeat(11_000_000) })),
  ),
  "12 live sessions that change a prompt of 10,000 characters 1,000 times": live(
    Array.from({ length: 1000 }, () => ({
      type: "session.update",
      session: { type: "transcription", audio: { input: { transcription: { prompt: "a ".repeat(5000) } } } },
    })),
  ),
  "12 live sessions that append two bytes of sound 80,000 times": live(
    Array.from({ length: 80_000 }, () => ({ type: "input_audio_buffer.append", audio: "AAA=" })),
  ),
  "12 live sessions that commit an empty buffer 80,000 times": live(
    Array.from({ length: 80_000 }, () => ({ type: "input_audio_buffer.commit" })),
  ),
  "16 live sessions that send 8,000 events of 8,000 Latvian letters": live(
    Array.from({ length: 8000 }, () => ({ type: "input_audio_buffer.clear", x: "\u0100".repeat(8000) })),
    ALL_SESSIONS,
    3 * ROW_MS,
  ),
  "a document of 500 pages with the same 1,000 words": async ({ url }) => {
    const body = { data: Buffer.from(samePages(500)).toString("base64"), include_words: true, max_pages: 1000 };
    const answer = await post(url, "/v1/vision/ocr", JSON.stringify(body));
    return `${answer.status}, ${Math.round((await answer.text()).length / 1e6)} MB`;
  },
  "a batch file of 90 MB of line breaks": async ({ url }) =>
    String((await upload(url, "\n".repeat(90_000_000))).status),
  "16 batches, each with a line of 95 MB": async ({ url }) => {
    const request = { messages: [{ role: "user", content: "a".repeat(95_000_000) }] };
    const line = JSON.stringify({ custom_id: "1", method: "POST", url: "/v1/chat/completions", body: request });
    const { id } = (await (await upload(url, line)).json()) as { readonly id: string };
    const asked = { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" };
    const made = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const answer = await post(url, "/v1/batches", JSON.stringify(asked));
        return ((await answer.json()) as { readonly id: string }).id;
      }),
    );
    const isOver = async (batch: string) => {
      const { status } = (await (await fetch(`${url}/v1/batches/${batch}`)).json()) as { readonly status: string };
      return /completed|failed/.test(status);
    };
    let over = 0;
    for (const batch of made) {
      for (let tries = 0; tries < 300 && !(await isOver(batch)); tries++) await Bun.sleep(200);
      over += Number(await isOver(batch));
    }
    return `${over} batches ended`;
  },
  "ten requests that each embed ten words of 90 KB": async ({ url }) => {
    const input = Array.from({ length: 10 }, () => "a".repeat(90_000));
    const answers = Array.from({ length: 10 }, () => post(url, "/v1/embeddings", JSON.stringify({ input })));
    const counts = Map.groupBy(await Promise.all(answers), ({ status }) => status);
    return [...counts].map(([status, all]) => `${all.length} × ${status}`).join(", ");
  },
  "128 answers of 64 tokens with 20 log probabilities for each token": async ({ url }) => {
    const messages = [{ role: "user", content: "hi" }];
    const wanted = { n: 128, max_tokens: 64, ignore_eos: true, logprobs: true, top_logprobs: 20 };
    const answer = await post(url, "/v1/chat/completions", JSON.stringify({ messages, ...wanted }));
    return `${answer.status}, ${Math.round((await answer.text()).length / 1e6)} MB`;
  },
};

async function attacked(name: string, attack: (server: TestServer) => Promise<string>): Promise<Row> {
  const row = await watched(FLAGS, SLOWEST_HEALTH_MS, async (server) => ({ came: await attack(server), ok: true }));
  console.error(`${name}: ${row.figure}`);
  return { promise: "Small inputs cannot be amplified", attack: name, ...row };
}

export async function multiplied({ attack: part = "" }: Options): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, attack] of Object.entries(ATTACKS))
    if (name.includes(part)) rows.push(await attacked(name, attack));
  return rows;
}
