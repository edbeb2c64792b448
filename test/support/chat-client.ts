// A simple reader of chat streams: returns the text, whether the stream was complete, and the error that ended it.

import { post } from "./post.ts";

export interface ChatStream {
  readonly status: number;
  readonly text: string;
  readonly finishReason: string | undefined;
  /** The `error` object of a chunk, or of the body when the response is not a stream. */
  readonly error: { readonly code: string; readonly type: string; readonly message: string } | undefined;
  /** Whether the literal end marker was the last event. */
  readonly done: boolean;
}

interface Chunk {
  readonly error?: ChatStream["error"];
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string };
    readonly finish_reason?: string | null;
  }[];
}

export interface ChatOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for each piece of text. */
  readonly onText?: (text: string) => void;
}

/** Sends a chat request with `stream: true` and reads it to its end. Throws only when the connection itself fails. */
export async function streamChat(
  url: string,
  body: Readonly<Record<string, unknown>>,
  { signal, headers, onText }: ChatOptions = {},
): Promise<ChatStream> {
  const response = await post(`${url}/v1/chat/completions`, { stream: true, ...body }, { headers, signal });
  if (!response.ok || !response.body) {
    const { error } = (await response.json()) as Chunk;
    return { status: response.status, text: "", finishReason: undefined, error, done: false };
  }
  let text = "";
  let finishReason: string | undefined;
  let error: ChatStream["error"];
  let last = "";
  for await (const data of readEvents(response.body)) {
    last = data;
    if (data === "[DONE]") continue;
    const chunk = JSON.parse(data) as Chunk;
    const [choice] = chunk.choices ?? [];
    error = chunk.error ?? error;
    finishReason = choice?.finish_reason ?? finishReason;
    if (!choice?.delta?.content) continue;
    text += choice.delta.content;
    onText?.(choice.delta.content);
  }
  return { status: response.status, text, finishReason, error, done: last === "[DONE]" };
}

/** The data of each server-sent event. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      if (event.startsWith("data: ")) yield event.slice("data: ".length);
    }
  }
}
