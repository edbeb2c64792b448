// One chat completion as every route that answers any runs it: what its body asks, and what its events come to.

import type { ProfileDetail } from "../contract/chat.ts";
import { decodeChat } from "../dialect/chat/decode.ts";
import { encodeChatChunks, encodeChatStream } from "../dialect/chat/encode-stream.ts";
import { encodeChat } from "../dialect/chat/encode.ts";
import type { StreamContext } from "../dialect/fields/stream.ts";
import type { GenerateEvent, GenerateRequest } from "../domain/generate.ts";
import { newChatCompletionId } from "../domain/ids.ts";
import { answerOrigin } from "./answer-origin.ts";
import type { AppDeps } from "./deps.ts";

export interface ChatExchange {
  readonly request: Omit<GenerateRequest, "id">;
  /** The client wants a stream, and the server gives streams. */
  readonly stream: boolean;
  /** The whole answer; throws what the generation throws. */
  readonly json: (events: AsyncIterable<GenerateEvent>) => Promise<unknown>;
  /** The events of a stream, without its terminator; throws what the generation throws. */
  readonly chunks: (events: AsyncIterator<GenerateEvent>) => AsyncGenerator<string, void, void>;
  /** The events of a stream, failure and terminator included. Never throws. */
  readonly frames: (events: AsyncIterator<GenerateEvent>, context: StreamContext) => AsyncGenerator<string, void, void>;
}

/** The exchange that a body asks for; its answer is begun now. Throws SvcError about the body or its model. */
export function chatExchange(deps: AppDeps, body: unknown, profile: ProfileDetail | undefined): ChatExchange {
  const { request: asked, stream, includeUsage } = decodeChat(body, deps.config);
  const { choices, topLogprobs } = asked;
  const answer = answerOrigin(deps, newChatCompletionId(), asked.model);
  const written = { answer, choices, includeUsage, profile };
  return {
    request: profile ? { ...asked, profile: true } : asked,
    stream: stream && deps.config.streaming,
    json: (events) => encodeChat(events, answer, { choices, withLogprobs: topLogprobs !== undefined, profile }),
    chunks: (events) => encodeChatChunks(events, written),
    frames: (events, context) => encodeChatStream(events, { ...written, ...context }),
  };
}
