// The one client for both servers. Raw sockets, and nothing is parsed while a stream runs: on a machine with few cores
// the client's own work would be measured as the server's.

import { connect } from "node:net";

export interface ChatCall {
  readonly prompt: string;
  readonly maxTokens: number;
  /** Further fields of the request. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Clock readings are `performance.now()` milliseconds. */
export interface ChatResult {
  readonly started: number;
  /** Arrival of each event that carried text. */
  readonly tokens: readonly number[];
  readonly ended: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly text: string;
}

interface Arrival {
  readonly time: number;
  readonly bytes: Buffer;
}

interface StreamChunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  readonly error?: unknown;
}

/** Streams one greedy chat completion. Throws when the answer is not a complete stream of `maxTokens` tokens. */
export async function streamChat(port: number, call: ChatCall): Promise<ChatResult> {
  const body = JSON.stringify({
    messages: [{ role: "user", content: call.prompt }],
    max_tokens: call.maxTokens,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
    ...call.fields,
  });
  const { started, arrivals } = await exchange(port, body);
  const result = readStream(started, arrivals);
  if (result.completionTokens !== call.maxTokens) {
    throw new Error(`port ${port}: ${result.completionTokens} tokens instead of ${call.maxTokens}`);
  }
  return result;
}

function exchange(port: number, body: string): Promise<{ started: number; arrivals: Arrival[] }> {
  return new Promise((resolve, reject) => {
    const arrivals: Arrival[] = [];
    let started = 0;
    const socket = connect(port, "127.0.0.1", () => {
      started = performance.now();
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    });
    socket.setNoDelay(true);
    socket.on("data", (bytes: Buffer) => arrivals.push({ time: performance.now(), bytes }));
    socket.on("error", reject);
    socket.on("close", () => resolve({ started, arrivals }));
  });
}

/** Splits what arrived into server-sent events, each with the time at which its last byte came. */
function readStream(started: number, arrivals: readonly Arrival[]): ChatResult {
  const tokens: number[] = [];
  let text = "";
  let usage: StreamChunk["usage"];
  let done = false;
  for (const event of readEvents(arrivals)) {
    if (event.data === "[DONE]") {
      done = true;
      continue;
    }
    const chunk = JSON.parse(event.data) as StreamChunk;
    if (chunk.error !== undefined) throw new Error(`stream failed: ${event.data}`);
    usage = chunk.usage ?? usage;
    const content = chunk.choices?.[0]?.delta?.content;
    if (!content) continue;
    tokens.push(event.time);
    text += content;
  }
  if (!done || !usage)
    throw new Error(`incomplete stream: ${Buffer.concat(arrivals.map((a) => a.bytes)).subarray(0, 400)}`);
  return {
    started,
    tokens,
    ended: arrivals.at(-1)?.time ?? started,
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    text,
  };
}

function* readEvents(arrivals: readonly Arrival[]): Generator<{ time: number; data: string }> {
  // An event's JSON has no line feed inside, and the lengths between HTTP chunks stand on lines of their own, so
  // looking for lines that begin with "data: " is enough; a chunk border inside a line is repaired by `unchunk`.
  let rest = "";
  for (const { time, bytes } of unchunk(arrivals)) {
    const lines = (rest + bytes).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ")) yield { time, data: line.slice(6).trimEnd() };
    }
  }
}

/** Removes the response head and the chunked transfer framing; pieces keep their arrival time. */
function* unchunk(arrivals: readonly Arrival[]): Generator<{ time: number; bytes: string }> {
  let pending: Buffer = Buffer.alloc(0);
  let inHead = true;
  let left = 0;
  for (const { time, bytes } of arrivals) {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    if (inHead) {
      const end = pending.indexOf("\r\n\r\n");
      if (end < 0) continue;
      const head = pending.toString("latin1", 0, end);
      if (!head.startsWith("HTTP/1.1 200 ")) throw new Error(`${head.split("\r\n")[0]}: ${pending.subarray(end)}`);
      if (!/\r\ntransfer-encoding: chunked/i.test(head)) throw new Error(`not a chunked stream: ${head}`);
      pending = pending.subarray(end + 4);
      inHead = false;
    }
    while (pending.length > 0) {
      if (left === 0) {
        const line = pending.indexOf("\r\n");
        if (line < 0) break;
        // The chunk's own line feed follows its bytes and is dropped with them.
        left = parseInt(pending.toString("latin1", 0, line), 16) + 2;
        pending = pending.subarray(line + 2);
        if (left === 2) return;
      }
      const take = Math.min(left, pending.length);
      const content = pending.subarray(0, Math.max(0, Math.min(take, left - 2)));
      if (content.length > 0) yield { time, bytes: content.toString("latin1") };
      pending = pending.subarray(take);
      left -= take;
    }
  }
}
