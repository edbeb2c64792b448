// HTTP/1.1 over raw sockets. Nothing is parsed while an answer arrives: on a machine with few cores, the client's own
// work would be measured as the server's.

import { connect } from "node:net";

export interface Call {
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Closes the connection when aborted, like a client that disconnects. */
  readonly leave?: AbortSignal;
}

/** Bytes with their arrival time in `performance.now()` milliseconds. */
export interface Arrival {
  readonly time: number;
  readonly bytes: Buffer;
}

export interface Reply {
  /** When the request was sent, on an open connection. */
  readonly started: number;
  readonly ended: number;
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body without its framing. */
  readonly body: readonly Arrival[];
}

/** Sends one POST on a new connection and reads until the server closes it. Throws when there is no answer. */
export async function exchange(port: number, call: Call): Promise<Reply> {
  const { started, arrivals } = await transfer(port, call);
  return { started, ended: arrivals.at(-1)?.time ?? started, ...readReply(arrivals) };
}

export const bodyText = (reply: Reply): string => Buffer.concat(reply.body.map(({ bytes }) => bytes)).toString();

function transfer(
  port: number,
  { path, body, headers, leave }: Call,
): Promise<{ started: number; arrivals: Arrival[] }> {
  const content = JSON.stringify(body);
  const head = {
    Host: `127.0.0.1:${port}`,
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(content),
    Connection: "close",
    ...headers,
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const arrivals: Arrival[] = [];
    let started = 0;
    const socket = connect(port, "127.0.0.1", () => {
      started = performance.now();
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${content}`);
    });
    const left = () => socket.destroy();
    leave?.addEventListener("abort", left);
    socket.setNoDelay(true);
    socket.on("data", (bytes: Buffer) => arrivals.push({ time: performance.now(), bytes }));
    socket.on("error", reject);
    socket.on("close", () => {
      leave?.removeEventListener("abort", left);
      resolve({ started, arrivals });
    });
  });
}

/** Removes the head; pieces of the body keep their arrival time. */
function readReply(arrivals: readonly Arrival[]): Pick<Reply, "status" | "headers" | "body"> {
  let pending: Buffer = Buffer.alloc(0);
  for (const [index, { time, bytes }] of arrivals.entries()) {
    pending = Buffer.concat([pending, bytes]);
    const end = pending.indexOf("\r\n\r\n");
    if (end < 0) continue;
    const [statusLine = "", ...lines] = pending.toString("latin1", 0, end).split("\r\n");
    const headers = new Map(lines.map(readHeader));
    const rest = [{ time, bytes: pending.subarray(end + 4) }, ...arrivals.slice(index + 1)];
    const isChunked = headers.get("transfer-encoding")?.toLowerCase() === "chunked";
    const body = isChunked ? [...unchunk(rest)] : rest;
    return { status: Number(statusLine.split(" ")[1]), headers, body };
  }
  throw new Error(`the connection was closed after ${pending.length} bytes, before the end of an HTTP head`);
}

function readHeader(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** Removes the chunked transfer framing. */
function* unchunk(arrivals: readonly Arrival[]): Generator<Arrival> {
  let pending: Buffer = Buffer.alloc(0);
  let left = 0;
  for (const { time, bytes } of arrivals) {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    while (pending.length > 0) {
      if (left === 0) {
        const line = pending.indexOf("\r\n");
        if (line < 0) break;
        // The chunk's own line break follows its bytes and is dropped with them.
        left = parseInt(pending.toString("latin1", 0, line), 16) + 2;
        pending = pending.subarray(line + 2);
        if (left === 2) return;
      }
      const take = Math.min(left, pending.length);
      const content = pending.subarray(0, Math.max(0, Math.min(take, left - 2)));
      if (content.length > 0) yield { time, bytes: content };
      pending = pending.subarray(take);
      left -= take;
    }
  }
}
