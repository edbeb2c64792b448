// The fields of a request's log line.

import type { ServedBy } from "../domain/upstream.ts";
import type { RequestReport } from "../service/request.ts";
import type { LogFields } from "../telemetry/log.ts";

/** How a job went: its model, tokens and times. Times are milliseconds, `tok_s` tokens a second after the first. */
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

/** Which replica of another server answered, and after how many failures. */
export const servedByFields = ({ replica, retries = 0 }: Partial<ServedBy> = {}): LogFields => ({
  replica,
  ...(retries > 0 && { retries }),
});

/** The same of a job that has no tokens. */
export const outcomeFields = ({ model, reason, error }: RequestReport): LogFields => ({
  model,
  finish: error ?? reason,
});
