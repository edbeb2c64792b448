// One chat completion for all routes that answer some: its request, and the writers of its answer.

import type { ProfileDetail } from "../contract/chat.ts";
import { decodeChat } from "../dialect/chat/decode.ts";
import { chatWriter } from "../dialect/chat/encode-stream.ts";
import { encodeChat } from "../dialect/chat/encode.ts";
import { reporterOf } from "../dialect/chat/running-reports.ts";
import type { Put, StreamedRequest, StreamWriter } from "../dialect/stream/streamed.ts";
import type { GenerateEvent, Generation } from "../domain/generate.ts";
import { newChatCompletionId } from "../domain/ids.ts";
import { answerOrigin } from "./answer-origin.ts";
import type { AppDeps } from "./deps.ts";

export interface ChatExchange {
  readonly request: Generation;
  /** Whether the client wants a stream. */
  readonly stream: boolean;
  /** Returns the whole answer; throws what the generation throws. */
  readonly json: (events: AsyncIterable<GenerateEvent>, request: StreamedRequest) => Promise<unknown>;
  /** Writes the answer as a stream. */
  readonly writer: (put: Put<string>, request: StreamedRequest) => StreamWriter<GenerateEvent>;
}

/** Returns the exchange for a request body; its answer begins now. Throws SvcError about the body or its model. */
export function chatExchange(deps: AppDeps, body: unknown, profile: ProfileDetail | undefined): ChatExchange {
  const { request, stream, includeUsage, running } = decodeChat(body, deps.settings);
  const { choices, topLogprobs } = request;
  const origin = answerOrigin(deps, newChatCompletionId(), request.model);
  return {
    request: profile ? { ...request, profile: true } : request,
    stream,
    json: (events, { readInputs }) =>
      encodeChat(events, origin, { choices, withLogprobs: topLogprobs !== undefined, profile, readInputs }),
    writer: (put, { requestId, readInputs, promptTokens }) => {
      const report = reporterOf(running, promptTokens, deps.clock.now);
      return chatWriter(put, origin, { choices, includeUsage, report, profile, requestId, readInputs });
    },
  };
}
