// How a request's bytes are sent: by a normal client, and by ones that state wrong types and lengths, truncate bodies
// or disconnect.

import { connect } from "node:net";
import { pick, type Dice } from "../support/dice.ts";
import { MARK } from "./seed-parts.ts";

/** Longer than any answer takes. */
const PATIENCE_MS = 60_000;

export interface Bytes {
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

export interface Transport {
  readonly name: string;
  /** Whether the request is not valid or complete HTTP, so that it may stay unanswered. */
  readonly broken?: true;
  readonly of: (body: Uint8Array) => Bytes;
}

const JSON_TYPE = "Content-Type: application/json";
const length = (body: Uint8Array, off = 0) => `Content-Length: ${body.length + off}`;
const plain: Transport = { name: "plain", of: (body) => ({ headers: [JSON_TYPE, length(body)], body }) };

const typed = (type: string): Transport => ({
  name: `type ${type}`,
  of: (body) => ({ headers: [`Content-Type: ${type}`, length(body)], body }),
});

const damaged = (name: string, change: (body: Buffer) => Uint8Array): Transport => ({
  name,
  of: (body) => plain.of(change(Buffer.from(body))),
});

const chunked = (name: string, end: (body: Buffer) => Buffer, broken?: true): Transport => ({
  name,
  ...(broken && { broken }),
  of: (body) => ({ headers: [JSON_TYPE, "Transfer-Encoding: chunked"], body: end(Buffer.from(body)) }),
});

const pieces = (body: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(body.length / size) }, (_, index) => {
    const piece = body.subarray(index * size, (index + 1) * size);
    return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
  });
const LAST = Buffer.from("0\r\n\r\n");
const half = (body: Buffer) => body.subarray(0, body.length >> 1);

const UNUSUAL: readonly [Transport, ...Transport[]] = [
  typed("text/plain"),
  typed("application/json; charset=utf-16"),
  typed("application/x-www-form-urlencoded"),
  typed(`multipart/form-data; boundary=${MARK}`),
  typed("application/vnd.api+json"),
  typed("*/*"),
  typed(`${MARK}/json`),
  { name: "no type", of: (body) => ({ headers: [length(body)], body }) },
  {
    name: "gzip",
    of: (body) => ({
      headers: [JSON_TYPE, "Content-Encoding: gzip", length(body)],
      body: Bun.gzipSync(Buffer.from(body)),
    }),
  },
  { name: "expect", of: (body) => ({ headers: [JSON_TYPE, "Expect: 100-continue", length(body)], body }) },
  damaged("cut", half),
  damaged("empty", () => new Uint8Array()),
  damaged("bom", (body) => Buffer.concat([Buffer.from("\ufeff"), body])),
  damaged("no UTF-8", (body) =>
    Buffer.concat([half(body), Uint8Array.of(0xff, 0xc3), body.subarray(body.length >> 1)]),
  ),
  damaged("a zero byte", (body) => Buffer.concat([half(body), Uint8Array.of(0), body.subarray(body.length >> 1)])),
  damaged("twice", (body) => Buffer.concat([body, body])),
  { name: "length too long", broken: true, of: (body) => ({ headers: [JSON_TYPE, length(body, 10)], body }) },
  {
    name: "length too short",
    broken: true,
    of: (body) => ({ headers: [JSON_TYPE, length(body, -Math.min(10, body.length))], body }),
  },
  { name: "length no number", broken: true, of: (body) => ({ headers: [JSON_TYPE, `Content-Length: ${MARK}`], body }) },
  { name: "two lengths", broken: true, of: (body) => ({ headers: [JSON_TYPE, length(body), length(body, 5)], body }) },
  chunked("in pieces", (body) => Buffer.concat([...pieces(body, 999), LAST])),
  chunked("pieces cut off", (body) => Buffer.concat(pieces(half(body), 999)), true),
  chunked("a bad piece", (body) => Buffer.concat([...pieces(half(body), 999), Buffer.from(`${MARK}\r\n`)]), true),
];

/** Returns a normal client in five of six cases. */
export const transportOf = (roll: Dice): Transport => (roll(6) > 0 ? plain : pick(roll, UNUSUAL));

export interface Answer {
  /** 0: closed without an answer. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends a POST on a new connection and reads the answer. Throws when nothing ends it for a minute. */
export async function exchange(port: number, path: string, body: Uint8Array, transport: Transport): Promise<Answer> {
  const sent = transport.of(body);
  const received: Buffer[] = [];
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const head = [`POST ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, "Connection: close", ...sent.headers].join("\r\n");
  socket.on("data", (bytes: Buffer) => {
    received.push(bytes);
    if (isWhole(Buffer.concat(received))) resolve();
  });
  socket
    .on("end", resolve)
    .on("close", resolve)
    .on("error", () => resolve());
  socket.write(`${head}\r\n\r\n`);
  socket.write(sent.body);
  // A client that cannot complete its request disconnects; one that has completed it waits for the answer.
  if (transport.broken) socket.end();
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    resolve();
  }, PATIENCE_MS);
  await closed;
  clearTimeout(timer);
  socket.destroy();
  if (hung) throw new Error(`no answer within ${PATIENCE_MS / 1000} s`);
  return parse(Buffer.concat(received));
}

function split(bytes: Buffer): { head: string; rest: Buffer } | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  return end < 0 ? undefined : { head: bytes.subarray(0, end).toString("latin1"), rest: bytes.subarray(end + 4) };
}

function isWhole(bytes: Buffer): boolean {
  const parts = split(bytes);
  if (!parts) return false;
  if (/^HTTP\/1.1 100 /.test(parts.head)) return isWhole(parts.rest);
  if (/^transfer-encoding: chunked/im.test(parts.head)) return parts.rest.subarray(-5).equals(LAST);
  const stated = /^content-length: (\d+)/im.exec(parts.head)?.[1];
  return stated !== undefined && parts.rest.length >= Number(stated);
}

function parse(bytes: Buffer): Answer {
  const parts = split(bytes);
  if (!parts) return { status: 0, headers: new Map(), body: "" };
  const [first = "", ...lines] = parts.head.split("\r\n");
  const status = Number(first.split(" ")[1]);
  if (status === 100) return parse(parts.rest);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  // What follows is no part of it: a parser may refuse a piece of a body that svc has already answered.
  const length = Number(headers.get("content-length") ?? parts.rest.length);
  const isChunked = headers.get("transfer-encoding") === "chunked";
  const body = isChunked ? joined(parts.rest) : parts.rest.subarray(0, length);
  return { status, headers, body: body.toString("utf8") };
}

function joined(bytes: Buffer): Buffer {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const line = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.subarray(at, line).toString("latin1"), 16);
    if (line < 0 || !size) break;
    found.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  return Buffer.concat(found);
}
