// Assembles an answer from the chunks of a stream.

import type { ChatCompletionChunk } from "../../contract/chat.ts";
import type { Static } from "../../contract/schema.ts";
import type { NewMedia } from "./chat-request.ts";
import type { ToolCall, Turn } from "./conversation.ts";

/** An event in a stream of chat completions: a chunk, or the error that ends the stream. */
export type Chunk = Partial<Static<typeof ChatCompletionChunk>>;

export interface Answer {
  /** What is stored of it in its turn. */
  readonly turn: Pick<Turn, "text"> & Partial<Turn>;
  /** Milliseconds until the first text or reasoning arrived; `textMs`: until the first text that is not reasoning. */
  readonly firstMs?: number;
  readonly textMs?: number;
  /** Tokens of the prompt, in all and processed so far; shown until the first text. */
  readonly prompt?: { readonly total: number; readonly processed: number };
  /** Tokens of the answer so far, and tokens per second; absent when the model's server does not report them. */
  readonly running?: { readonly tokens: number; readonly perSecond: number };
}

/** How an answer ended, by its finish reason; complete answers are not listed. */
export const ENDS: Readonly<Record<string, string>> = {
  length: "cut at the length limit",
  content_filter: "cut by a content filter",
  stopped: "stopped",
  cancelled: "cancelled",
  edited: "edited by you",
};

export const noAnswer: Answer = { turn: { text: "" } };

/**
 * Returns the answer with another chunk, which arrived `ms` milliseconds after the request was sent. `media` has the names
 * of the files that are new in the request: the server also reports those of earlier messages, which it has read again.
 */
export function withChunk(answer: Answer, chunk: Chunk, ms: number, media: NewMedia): Answer {
  const {
    model,
    usage,
    timings,
    prompt_progress: prompt,
    error,
    svc_recognitions: seen = [],
    svc_transcriptions: heard = [],
  } = chunk;
  const read = [...seen, ...heard].filter(({ param }) => media.has(partOf(param)));
  const [choice] = chunk.choices ?? [];
  // The content of a failed chunk only repeats the error message.
  const isFailure = error !== undefined || choice?.finish_reason === "error";
  const {
    content = "",
    reasoning_content: thought = "",
    tool_calls: calls = [],
  } = isFailure || !choice ? {} : choice.delta;
  const isText = content !== "" || calls.length > 0;
  const isSomething = isText || thought !== "";
  const firstMs = answer.firstMs ?? (isSomething ? ms : undefined);
  const textMs = answer.textMs ?? (isText ? ms : undefined);
  const { turn } = answer;
  const { toolCalls = [], readInputs = [], readNames = [] } = turn;
  const reasoning = (turn.reasoning ?? "") + thought;
  return {
    ...answer,
    ...(prompt && { prompt }),
    ...(timings && { running: { tokens: timings.predicted_n, perSecond: timings.predicted_per_second } }),
    ...(firstMs !== undefined && { firstMs }),
    ...(textMs !== undefined && { textMs }),
    turn: {
      ...turn,
      text: turn.text + content,
      // The server may answer with another model than the page knows, as after a restart.
      ...(model !== undefined && { model }),
      ...(reasoning && { reasoning }),
      ...(reasoning && textMs !== undefined && firstMs !== undefined && { reasoningMs: textMs - firstMs }),
      ...(calls.length > 0 && { toolCalls: calls.reduce(withCall, toolCalls) }),
      ...(read.length > 0 && {
        readInputs: [...readInputs, ...read.map(({ text }) => text)],
        readNames: [...readNames, ...read.map(({ param }) => media.get(partOf(param)) ?? "")],
      }),
      ...(choice?.finish_reason && { finish: choice.finish_reason }),
      ...(isFailure && { finish: "error", error: error?.message ?? "The answer failed." }),
      // Other chunks may have usage with the counts alone.
      ...(usage &&
        "prompt_tokens_details" in usage && {
          stats: {
            promptTokens: usage.prompt_tokens,
            cachedTokens: usage.prompt_tokens_details.cached_tokens,
            completionTokens: usage.completion_tokens,
            ...(firstMs !== undefined && { firstTokenMs: firstMs }),
            ...(usage.completion_tokens > 1 && {
              tokensPerSecond: timings?.predicted_per_second ?? usage.completion_tokens_per_second,
            }),
          },
        }),
    },
  };
}

/** Returns `messages.0.content.1` for a field of it. */
const partOf = (param: string): string => param.split(".", 4).join(".");

type CallDelta = NonNullable<NonNullable<Chunk["choices"]>[number]["delta"]["tool_calls"]>[number];

function withCall(calls: readonly ToolCall[], { index, id, function: part }: CallDelta): readonly ToolCall[] {
  const known = calls[index] ?? { id: id ?? `call_${index}`, name: "", arguments: "" };
  const next = { ...known, name: known.name + (part.name ?? ""), arguments: known.arguments + (part.arguments ?? "") };
  return calls.toSpliced(index, 1, next);
}
