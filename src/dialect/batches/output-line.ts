// Writes the lines of a batch's output: one for each line of its input, whether answered or not.

import type { BatchOutputLine } from "../../contract/batches.ts";
import { chatErrors, errorObject } from "../../contract/errors.ts";
import type { SvcError } from "../../domain/errors.ts";
import { isObject, type JsonObject } from "../../domain/json.ts";
import type { BatchUsage } from "../../store/batch-records.ts";

/** The ids of an output line; `customId` is that of the input line. */
interface LineIds {
  readonly id: string;
  readonly customId: string;
  readonly requestId: string;
}

/** What an output line adds to the counts of its batch. */
export interface OutputTally {
  readonly customId: string;
  /** `skipped`: the request was never processed. */
  readonly outcome: "completed" | "failed" | "skipped";
  readonly usage: BatchUsage;
}

/** Returns the line of an answered request, with the endpoint's own answer. */
export const answeredLine = ({ id, customId, requestId }: LineIds, body: unknown): BatchOutputLine => ({
  id,
  custom_id: customId,
  response: { status_code: 200, request_id: requestId, body },
  error: null,
});

/** Returns the line of a refused or failed request: the endpoint's status and error body, and the error again. */
export const failedLine = ({ id, customId, requestId }: LineIds, error: SvcError): BatchOutputLine => ({
  id,
  custom_id: customId,
  response: {
    status_code: chatErrors[error.code].status,
    request_id: requestId,
    body: { error: errorObject(error, requestId) },
  },
  error: { code: error.code, message: error.message },
});

const REASONS = {
  batch_expired: "The completion window was over before this request was answered.",
  batch_cancelled: "The batch was cancelled before this request was answered.",
} as const;

/** Returns the line of a request that was never processed. */
export const skippedLine = (id: string, customId: string, code: keyof typeof REASONS): BatchOutputLine => ({
  id,
  custom_id: customId,
  response: null,
  error: { code, message: REASONS[code] },
});

/** Counts an output line that this or an earlier process wrote. */
export function tallyLine({ custom_id, response, error }: BatchOutputLine): OutputTally {
  const outcome = error === null ? "completed" : response === null ? "skipped" : "failed";
  return { customId: custom_id, outcome, usage: usageIn(error ? undefined : response?.body) };
}

/**
 * Reads token counts from an endpoint's answer. Some answers name them input and output instead of prompt and
 * completion, and some have no counts.
 */
function usageIn(body: unknown): BatchUsage {
  const usage = fieldsOf(fieldsOf(body)["usage"]);
  const [prompt, completion] = "input_tokens" in usage ? ["input", "output"] : ["prompt", "completion"];
  const details = (kind: string | undefined) => fieldsOf(usage[`${kind}_tokens_details`]);
  return {
    promptTokens: count(usage[`${prompt}_tokens`]),
    cachedTokens: count(details(prompt)["cached_tokens"]),
    completionTokens: count(usage[`${completion}_tokens`]),
    reasoningTokens: count(details(completion)["reasoning_tokens"]),
  };
}

const fieldsOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
const count = (value: unknown): number => (typeof value === "number" ? value : 0);
