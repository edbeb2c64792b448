// Begins requests that are one job: embeddings, speech, transcriptions, recognised pages, images of /sdapi.

import type { EmbeddingReport } from "../service/embeddings.ts";
import type { LogFields } from "../telemetry/log.ts";
import type { AppDeps } from "./deps.ts";
import { requestOrigin } from "./generation-response.ts";
import { outcomeFields } from "./log-fields.ts";

/**
 * Returns a request's settings, its context, and the report from which its log line is made. `more`: returns further
 * fields of that line. Throws SvcError `invalid_value` about the headers.
 */
export function beginJob(deps: AppDeps, request: Request, more: (report: EmbeddingReport) => LogFields = () => ({})) {
  const origin = requestOrigin(deps, request);
  const context = deps.contexts.of(request);
  const report: EmbeddingReport = {};
  context.logFields = () => ({ ...outcomeFields(report), ...more(report) });
  return { origin, context, report };
}
