// /v1/batches: creating a batch, batch objects, and the lines of the input and output files.

import { pageOf } from "./list.ts";
import { Metadata } from "./metadata.ts";
import { JsonObject, nullable, oneOf, opt, t, type Static } from "./schema.ts";

/** The endpoint that batches may always use. */
export const BATCH_ENDPOINT = "/v1/chat/completions";

/** All endpoints that batches may use on a server with --batch-endpoints. */
export const BATCH_ENDPOINTS = [
  BATCH_ENDPOINT,
  "/v1/completions",
  "/v1/responses",
  "/v1/embeddings",
  "/v1/audio/transcriptions",
  "/v1/audio/translations",
] as const;
export type BatchEndpoint = (typeof BATCH_ENDPOINTS)[number];

const Endpoint = t.Unsafe<BatchEndpoint>(
  t.Union(
    BATCH_ENDPOINTS.map((endpoint) => t.Literal(endpoint)),
    { description: `Endpoints other than ${BATCH_ENDPOINT} need --batch-endpoints.` },
  ),
);

export const BatchRequest = t.Object({
  input_file_id: t.String({ minLength: 1, maxLength: 64 }),
  endpoint: Endpoint,
  completion_window: opt(
    t.String({
      description: "Maximum duration of the batch: a number with s, m, h or d, from 1s to 30d. Default 24h.",
      pattern: "^[0-9]{1,7}[smhd]$",
      examples: ["24h", "30m", "7d"],
    }),
  ),
  metadata: opt(Metadata),
  output_expires_after: opt(
    t.Object({ anchor: t.Literal("created_at"), seconds: t.Integer({ minimum: 3600, maximum: 2_592_000 }) }),
  ),
});

const Fault = t.Object({
  code: t.String(),
  message: t.String(),
  param: nullable(t.String()),
  line: nullable(t.Integer({ description: "Line of the input file, counted from 1." })),
});

const time = nullable(t.Integer());

export const Batch = t.Object({
  id: t.String(),
  object: t.Literal("batch"),
  endpoint: t.String(),
  model: t.Optional(t.String({ description: "The server's default model for the endpoint; absent when it has none." })),
  errors: nullable(t.Object({ object: t.Literal("list"), data: t.Array(Fault) })),
  input_file_id: t.String(),
  completion_window: t.String(),
  status: oneOf("validating", "in_progress", "finalizing", "completed", "failed", "cancelling", "cancelled", "expired"),
  output_file_id: nullable(t.String()),
  error_file_id: t.Null({ description: "Always null: failed lines are in the output file." }),
  created_at: t.Integer(),
  in_progress_at: time,
  expires_at: time,
  finalizing_at: time,
  completed_at: time,
  failed_at: time,
  expired_at: time,
  cancelling_at: time,
  cancelled_at: time,
  request_counts: t.Object({ total: t.Integer(), completed: t.Integer(), failed: t.Integer() }),
  usage: nullable(
    t.Object({
      input_tokens: t.Integer(),
      input_tokens_details: t.Object({ cached_tokens: t.Integer() }),
      output_tokens: t.Integer(),
      output_tokens_details: t.Object({ reasoning_tokens: t.Integer() }),
      total_tokens: t.Integer(),
    }),
  ),
  metadata: nullable(t.Record(t.String(), t.String())),
});

export const BatchList = pageOf(Batch);

/** A line of an input file. The line's endpoint checks `body`. */
export const BatchInputLine = t.Object({
  custom_id: t.String({ minLength: 1, maxLength: 512 }),
  method: t.Literal("POST"),
  url: Endpoint,
  body: JsonObject,
});

/** A line of an output file. */
export const BatchOutputLine = t.Object({
  id: t.String(),
  custom_id: t.String(),
  response: nullable(
    t.Object({
      status_code: t.Integer(),
      request_id: t.String(),
      body: t.Unknown({ description: "The endpoint's answer, which may be an error." }),
    }),
  ),
  error: nullable(t.Object({ code: t.String(), message: t.String() })),
});

export type Batch = Static<typeof Batch>;
export type BatchList = Static<typeof BatchList>;
export type BatchOutputLine = Static<typeof BatchOutputLine>;
