// The client for all servers: streamed greedy chat completions of a fixed length, unless a row is about the answer.

import { bodyText, exchange, type Arrival, type Reply } from "./exchange.ts";

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export interface ChatCall {
  /** A single user message, or a conversation. */
  readonly prompt: string | readonly Message[];
  readonly maxTokens: number;
  /** Further fields of the request. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Closes the connection when aborted. */
  readonly leave?: AbortSignal;
}

/** Times are `performance.now()` milliseconds. */
export interface ChatResult {
  readonly started: number;
  /** Arrival time of each event with text. */
  readonly tokens: readonly number[];
  readonly ended: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly text: string;
}

interface StreamChunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  readonly error?: unknown;
}

/** Streams an answer of exactly `maxTokens` tokens. Throws when it is not a complete stream of that length. */
export async function streamChat(port: number, call: ChatCall): Promise<ChatResult> {
  const result = await streamAnswer(port, { ...call, fields: { ignore_eos: true, ...call.fields } });
  if (result.completionTokens !== call.maxTokens) {
    throw new Error(`port ${port}: ${result.completionTokens} tokens instead of ${call.maxTokens}`);
  }
  return result;
}

/** Streams an answer that ends where the model ends it. Throws when it is not a complete stream. */
export async function streamAnswer(port: number, call: ChatCall): Promise<ChatResult> {
  return readChat(await sendChat(port, { ...call, fields: { stream: true, ...call.fields } }));
}

/** Sends one greedy request and returns the reply, which is a stream only when `fields` request that. */
export function sendChat(port: number, { prompt, maxTokens, fields, headers, leave }: ChatCall): Promise<Reply> {
  const body = {
    messages: typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt,
    max_tokens: maxTokens,
    temperature: 0,
    ...(fields?.["stream"] === true && { stream_options: { include_usage: true } }),
    ...fields,
  };
  return exchange(port, { path: "/v1/chat/completions", body, ...(headers && { headers }), ...(leave && { leave }) });
}

/** Splits a streamed answer into events. Throws when the reply is no stream, has an error or is incomplete. */
export function readChat(reply: Reply): ChatResult {
  if (reply.status !== 200) throw new Error(`status ${reply.status}: ${bodyText(reply).slice(0, 400)}`);
  const tokens: number[] = [];
  let text = "";
  let usage: StreamChunk["usage"];
  let done = false;
  for (const event of readEvents(reply.body)) {
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
  if (!done || !usage) throw new Error(`incomplete stream: ${bodyText(reply).slice(0, 400)}`);
  return {
    started: reply.started,
    tokens,
    ended: reply.ended,
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    text,
  };
}

/** Returns the milliseconds from the request to its first text; NaN when there was none. */
export const firstTokenMs = (result: ChatResult): number => (result.tokens[0] ?? NaN) - result.started;

/** Yields server-sent events, each with the time at which its last byte arrived. */
function* readEvents(arrivals: readonly Arrival[]): Generator<{ time: number; data: string }> {
  let rest = "";
  for (const { time, bytes } of arrivals) {
    // Bytes are kept as Latin-1 characters, so that a piece may end within a character; a line is decoded when it is
    // complete.
    const lines = (rest + bytes.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ")) yield { time, data: Buffer.from(line.slice(6).trimEnd(), "latin1").toString() };
    }
  }
}
