// The fields of a request's log line.

import type { ServedBy } from "../domain/upstream.ts";
import type { EmbeddingReport } from "../service/embeddings.ts";
import type { RequestReport } from "../service/request.ts";
import type { LogFields } from "../telemetry/log.ts";

/** Returns a generation's model, tokens and times in milliseconds; `tok_s` is tokens per second after the first. */
export function reportFields({ model, reason, usage, error, firstTextMs, servedBy }: RequestReport): LogFields {
  const decodeSeconds = (usage?.completionMs ?? 0) / 1000;
  return {
    model,
    ...servedByFields(servedBy),
    finish: error ?? reason,
    prompt: usage?.promptTokens,
    cached: usage?.cachedTokens,
    completion: usage?.completionTokens,
    ttft_ms: firstTextMs === undefined ? undefined : Math.round(firstTextMs),
    tok_s:
      usage && decodeSeconds > 0 ? Math.round(((usage.completionTokens - 1) / decodeSeconds) * 10) / 10 : undefined,
  };
}

/** Returns which replica of an upstream answered, and after how many failures. */
const servedByFields = ({ replica, retries = 0 }: Partial<ServedBy> = {}): LogFields => ({
  replica,
  ...(retries > 0 && { retries }),
});

/** Returns a job's model and outcome. */
export const outcomeFields = ({ model, reason, error }: RequestReport): LogFields => ({
  model,
  finish: error ?? reason,
});

/** Returns further fields of vectors and rankings. */
export const embeddingFields = ({ servedBy, usage, truncated }: EmbeddingReport): LogFields => ({
  ...servedByFields(servedBy),
  prompt: usage?.promptTokens,
  truncated: truncated || undefined,
});
