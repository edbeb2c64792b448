// A chat client that receives the two best candidates of every token, and may disconnect or cancel midway.

import type { AdapterSet } from "../../src/domain/adapters.ts";
import { readEvents } from "./chat-client.ts";
import { post } from "./post.ts";
import type { AnswerToken, GreedyAnswer } from "./same-answer.ts";

export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface Ask {
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  readonly lora?: AdapterSet;
}

/** How a client behaves: it waits for the whole answer, streams it, or stops it after `after` pieces. */
export type Manner =
  { readonly kind: "whole" | "stream" } | { readonly kind: "disconnect" | "cancel"; readonly after: number };

export interface LogprobAnswer extends GreedyAnswer {
  readonly text: string;
  /** Prompt tokens that the server took from its cache; undefined when the answer is incomplete. */
  readonly cachedTokens: number | undefined;
}

interface Entry {
  readonly token: string;
  readonly top_logprobs: readonly { readonly logprob: number }[];
}

interface Choice {
  readonly delta?: { readonly content?: string };
  readonly message?: { readonly content: string | null };
  readonly logprobs?: { readonly content: readonly Entry[] | null } | null;
}

interface Chunk {
  readonly choices?: readonly Choice[];
  readonly usage?: { readonly prompt_tokens_details: { readonly cached_tokens: number } } | null;
  readonly error?: { readonly code: string };
}

/**
 * Sends a greedy request. Throws when the server answers with an error, or when a stream that was not stopped is
 * incomplete.
 */
export async function askWithLogprobs(
  url: string,
  { messages, maxTokens, lora = [] }: Ask,
  manner: Manner,
): Promise<LogprobAnswer> {
  const going = new AbortController();
  const id = crypto.randomUUID();
  const stream = manner.kind !== "whole";
  const response = await post(
    `${url}/v1/chat/completions`,
    {
      messages,
      max_tokens: maxTokens,
      lora,
      temperature: 0,
      logprobs: true,
      top_logprobs: 2,
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
    },
    { headers: { "x-request-id": id }, signal: going.signal },
  );
  if (!response.ok || !response.body) throw new Error(`status ${response.status}: ${await response.text()}`);
  const reading = new Reading();
  if (!stream) {
    reading.take((await response.json()) as Chunk);
    return reading.answer(true);
  }
  let stopped = false;
  let done = false;
  try {
    for await (const data of readEvents(response.body)) {
      done = data === "[DONE]";
      if (!done) reading.take(JSON.parse(data) as Chunk);
      if (!("after" in manner) || stopped || reading.pieces < manner.after) continue;
      stopped = true;
      if (manner.kind === "cancel") await fetch(`${url}/v1/chat/completions/${id}/cancel`, { method: "POST" });
      else going.abort();
    }
  } catch (error) {
    if (!going.signal.aborted) throw error;
  }
  if (!done && !going.signal.aborted) throw new Error("a stream ended without its end marker");
  return reading.answer(done && !stopped);
}

class Reading {
  pieces = 0;
  private readonly tokens: AnswerToken[] = [];
  private text = "";
  private cachedTokens: number | undefined;

  take({ choices, usage, error }: Chunk): void {
    if (error) throw new Error(`the stream failed: ${error.code}`);
    this.cachedTokens = usage?.prompt_tokens_details.cached_tokens ?? this.cachedTokens;
    const [choice] = choices ?? [];
    const content = choice?.delta?.content ?? choice?.message?.content ?? "";
    if (content !== "") this.pieces++;
    this.text += content;
    for (const { token, top_logprobs } of choice?.logprobs?.content ?? []) {
      this.tokens.push({ token, top: top_logprobs.map(({ logprob }) => logprob) });
    }
  }

  answer(whole: boolean): LogprobAnswer {
    return { tokens: this.tokens, whole, text: this.text, cachedTokens: this.cachedTokens };
  }
}
