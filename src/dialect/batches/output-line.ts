// The lines of a batch's output: one for each line of its input, answered or not.

import type { BatchOutputLine } from "../../contract/batches.ts";
import { chatErrors, errorObject } from "../../contract/errors.ts";
import type { SvcError } from "../../domain/errors.ts";
import type { BatchUsage } from "../../store/batch-records.ts";

/** The line that an output line belongs to, and its ids. */
interface LineIds {
  readonly id: string;
  readonly customId: string;
  readonly requestId: string;
}

/** What counts of an output line. */
export interface OutputTally {
  readonly customId: string;
  readonly failed: boolean;
  readonly usage: BatchUsage;
}

/** A line that was answered, with the endpoint's own answer. */
export const answeredLine = ({ id, customId, requestId }: LineIds, body: unknown): BatchOutputLine => ({
  id,
  custom_id: customId,
  response: { status_code: 200, request_id: requestId, body },
  error: null,
});

/** A line whose request was refused or failed: the status and body that the endpoint gives, and the error again. */
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

/** A line that was never processed. */
export const skippedLine = (id: string, customId: string, code: keyof typeof REASONS): BatchOutputLine => ({
  id,
  custom_id: customId,
  response: null,
  error: { code, message: REASONS[code] },
});

/** Counts an output line, written now or by an earlier process. */
export function tallyLine({ custom_id, response, error }: BatchOutputLine): OutputTally {
  return { customId: custom_id, failed: error !== null, usage: usageIn(error ? undefined : response?.body) };
}

/** Tokens as the endpoints' answers count them; some call prompts and completions input and output, and some count no tokens. */
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

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
const count = (value: unknown): number => (typeof value === "number" ? value : 0);
