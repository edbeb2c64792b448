// One chat or text completion for all routes that answer some: its request, and the writers of its answer.

import type { ProfileDetail } from "../contract/chat.ts";
import { decodeChat } from "../dialect/chat/decode.ts";
import { chatWriter } from "../dialect/chat/encode-stream.ts";
import { encodeChat } from "../dialect/chat/encode.ts";
import { reporterOf } from "../dialect/fields/running-reports.ts";
import { decodeCompletion } from "../dialect/completions/decode.ts";
import { completionWriter } from "../dialect/completions/encode-stream.ts";
import { encodeCompletion } from "../dialect/completions/encode.ts";
import type { AnswerOrigin } from "../dialect/fields/answer-head.ts";
import type { Put, StreamedRequest, StreamWriter } from "../dialect/stream/streamed.ts";
import { unixSeconds } from "../domain/clock.ts";
import type { GenerateEvent, Generation } from "../domain/generate.ts";
import { newChatCompletionId, newCompletionId } from "../domain/ids.ts";
import type { AppDeps } from "./deps.ts";
import type { GenerationCall } from "./generation-response.ts";

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

/** The same for a text completion. */
export function completionExchange(
  deps: AppDeps,
  body: unknown,
): Pick<GenerationCall, "requests" | "stream" | "json" | "writer"> {
  const call = decodeCompletion(body, deps.settings);
  const { requests, stream, running } = call;
  const origin = answerOrigin(deps, newCompletionId(), requests[0].model);
  return {
    requests,
    stream,
    json: (events) => encodeCompletion(events, origin, call),
    writer: (put, accepted) => {
      const promptTokens = Math.round(accepted.promptTokens / requests.length);
      return completionWriter(put, origin, call, accepted, reporterOf(running, promptTokens, deps.clock.now));
    },
  };
}

/** Identifies an answer that begins now. `model`: the name in the request. Throws SvcError when no backend can answer. */
const answerOrigin = ({ router, clock, version }: AppDeps, id: string, model?: string): AnswerOrigin => ({
  id,
  created: unixSeconds(clock),
  model: router.find(model, "chat").model,
  systemFingerprint: `svc_${version}`,
});
