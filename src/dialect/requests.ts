// Encodes GET /v1/requests: running requests and the last ones that ended, without their text.

import type { RequestList } from "../contract/requests.ts";
import type { RequestRecord } from "../domain/request-record.ts";
import type { Usage } from "../domain/usage.ts";

/** Returns the list. Only a caller who `mayCancel` requests sees their ids. */
export const encodeRequests = (requests: readonly RequestRecord[], mayCancel: boolean): RequestList => ({
  object: "list",
  data: requests.map((request) => encodeRequest(request, mayCancel)),
});

function encodeRequest(request: RequestRecord, mayCancel: boolean): RequestList["data"][number] {
  const { id, kind, model, state, admittedAt, ms, firstTextMs, usage, reason, error, processedTokens } = request;
  // Speech and images have no tokens and therefore no token times.
  const times = usage && usage.completionTokens > 0 && usage.promptTokens > 0 ? timesOf(usage) : {};
  return {
    object: "request",
    ...(mayCancel && { id }),
    engine: kind,
    model,
    state,
    created: admittedAt / 1000,
    total_time: seconds(ms),
    prompt_tokens: request.promptTokens,
    ...(state !== "ended" && processedTokens !== undefined && { processed_prompt_tokens: processedTokens }),
    completion_tokens: request.completionTokens,
    ...times,
    ...(firstTextMs !== undefined && { time_to_first_token: seconds(firstTextMs) }),
    ...(reason && !error && { finish_reason: reason }),
    ...(error && { error }),
  };
}

const timesOf = ({ cachedTokens, queueMs, promptMs, completionMs }: Usage) => ({
  cached_tokens: cachedTokens,
  queue_time: seconds(queueMs),
  prompt_time: seconds(promptMs),
  completion_time: seconds(completionMs),
});

const seconds = (ms: number): number => Math.round(ms) / 1000;
