// Encodes batches as clients see them.

import type { Batch, BatchList } from "../../contract/batches.ts";
import type { BatchRecord, BatchUsage } from "../../store/batch-records.ts";
import type { Page } from "../../store/page.ts";
import { listOf } from "../fields/page.ts";

export function encodeBatch(batch: BatchRecord): Batch {
  const { times, status, errors, total, completed, failed } = batch;
  const hasOutput = status === "completed" || status === "cancelled" || status === "expired";
  return {
    id: batch.id,
    object: "batch",
    endpoint: batch.endpoint,
    ...(batch.model !== "" && { model: batch.model }),
    errors: errors && { object: "list", data: [...errors] },
    input_file_id: batch.inputFileId,
    completion_window: batch.window,
    status,
    output_file_id: hasOutput ? batch.outputFileId : null,
    error_file_id: null,
    created_at: batch.createdAt,
    in_progress_at: times.in_progress ?? null,
    expires_at: batch.expiresAt,
    finalizing_at: times.finalizing ?? null,
    completed_at: times.completed ?? null,
    failed_at: times.failed ?? null,
    expired_at: times.expired ?? null,
    cancelling_at: times.cancelling ?? null,
    cancelled_at: times.cancelled ?? null,
    request_counts: { total, completed, failed },
    usage: batch.usage && encodeUsage(batch.usage),
    metadata: batch.metadata && { ...batch.metadata },
  };
}

export const encodeBatches = ({ rows, hasMore }: Page<BatchRecord>): BatchList =>
  listOf(rows.map(encodeBatch), hasMore);

const encodeUsage = ({ promptTokens, cachedTokens, completionTokens, reasoningTokens }: BatchUsage) => ({
  input_tokens: promptTokens,
  input_tokens_details: { cached_tokens: cachedTokens },
  output_tokens: completionTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: promptTokens + completionTokens,
});
