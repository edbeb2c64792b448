// What every dialect asks for and what every dialect gets back: one request type, one canonical event stream.

import type { FinishReason, TokenLogprob, Usage } from "./usage.ts";

/** One turn of a conversation, already free of wire differences (developer is system, text parts are joined). */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly name?: string;
}

/** Values passed to the model's own chat template, by name. */
export type TemplateKwargs = Readonly<Record<string, unknown>>;

/** Sampling settings of a request; an absent field inherits flags, then the model file, then llama.cpp's default. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly minP?: number;
  /** 1 is off; applied over the last 64 tokens. */
  readonly repetitionPenalty?: number;
  readonly presencePenalty?: number;
  /** Unsigned 32 bits; absent: a fresh random one for each request. */
  readonly seed?: number;
}

export interface GenerateRequest {
  /** Correlation id; also the handle for cancelling. */
  readonly id: string;
  readonly messages: readonly ChatMessage[];
  readonly templateKwargs: TemplateKwargs;
  readonly sampling: Sampling;
  /** Output limit in tokens; absent: the room left in the context. */
  readonly maxTokens?: number;
  /** Stop sequences, first match wins; never part of the output. */
  readonly stop: readonly string[];
  /** Absent: no log probabilities. Else the number of alternatives per token (0 gives the chosen token alone). */
  readonly topLogprobs?: number;
}

/** Rendered, tokenized, length-checked and queued: from here on the HTTP status is settled. */
export interface AcceptedEvent {
  readonly type: "accepted";
  readonly promptTokens: number;
}

/** A piece of visible text, whole UTF-8 characters only. Logprobs cover exactly the tokens behind this text. */
export interface TextEvent {
  readonly type: "text";
  readonly text: string;
  readonly logprobs?: readonly TokenLogprob[];
}

/** Always the last event of a generation that did not throw. */
export interface FinishEvent {
  readonly type: "finish";
  readonly reason: FinishReason;
  readonly usage: Usage;
}

export type GenerateEvent = AcceptedEvent | TextEvent | FinishEvent;
