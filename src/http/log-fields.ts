// The fields of a request's log line.

import type { RequestReport } from "../service/request.ts";
import type { LogFields } from "../telemetry/log.ts";

/** How a job went: its model, tokens and times. Times are milliseconds, `tok_s` tokens a second after the first. */
export function reportFields({ model, reason, usage, error, firstTextMs }: RequestReport): LogFields {
  const decodeSeconds = (usage?.completionMs ?? 0) / 1000;
  return {
    model,
    finish: error ?? reason,
    prompt: usage?.promptTokens,
    cached: usage?.cachedTokens,
    completion: usage?.completionTokens,
    ttft_ms: firstTextMs === undefined ? undefined : Math.round(firstTextMs),
    tok_s:
      usage && decodeSeconds > 0 ? Math.round(((usage.completionTokens - 1) / decodeSeconds) * 10) / 10 : undefined,
  };
}

/** The same of a job that has no tokens. */
export const outcomeFields = ({ model, reason, error }: RequestReport): LogFields => ({
  model,
  finish: error ?? reason,
});
