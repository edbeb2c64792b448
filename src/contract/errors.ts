// Maps every error code to its HTTP status and type, one table per dialect, and defines the envelope of error bodies.

import type { ErrorCode, SvcError } from "../domain/errors.ts";
import { nullable, t, type Static } from "./schema.ts";

interface ErrorRow {
  readonly status: number;
  readonly type: string;
  /** false: SDKs must not retry on their own although the status is a 5xx. */
  readonly retry?: false;
}

const invalidRequest: ErrorRow = { status: 400, type: "invalid_request_error" };

/** The chat dialect's table; also used by every route that has no dialect of its own. */
export const chatErrors: Readonly<Record<ErrorCode, ErrorRow>> = {
  invalid_json: invalidRequest,
  invalid_type: invalidRequest,
  invalid_value: invalidRequest,
  missing_required_parameter: invalidRequest,
  unsupported_parameter: invalidRequest,
  unsupported_media_type: invalidRequest,
  unsupported_media_input: invalidRequest,
  context_length_exceeded: invalidRequest,
  // OpenAI's code for this error, which clients know.
  input_audio_buffer_commit_empty: invalidRequest,
  tokenize_unsupported: { status: 422, type: "tokenize_unsupported" },
  no_speech: { status: 422, type: "invalid_request_error" },
  no_text: { status: 422, type: "invalid_request_error" },
  no_tables: { status: 422, type: "invalid_request_error" },
  unprocessable_media: { status: 422, type: "invalid_request_error" },
  // The mode will not become available by retrying.
  mode_unavailable: { status: 501, type: "server_error", retry: false },
  payload_too_large: { status: 413, type: "payload_too_large" },
  invalid_api_key: { status: 401, type: "authentication_error" },
  // SDKs retry this status on their own.
  request_timeout: { status: 408, type: "timeout_error" },
  forbidden_origin: { status: 403, type: "permission_error" },
  forbidden_host: { status: 403, type: "permission_error" },
  not_found: { status: 404, type: "not_found_error" },
  model_not_found: { status: 404, type: "not_found_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  upgrade_required: { status: 426, type: "invalid_request_error" },
  rate_limit_exceeded: { status: 429, type: "rate_limit_error" },
  server_busy: { status: 503, type: "server_busy" },
  // The answer is too late to be of use, and SDKs would request it twice more.
  deadline_exceeded: { status: 504, type: "timeout_error", retry: false },
  // The request was cancelled on purpose: as after a disconnect, no client waits for an answer.
  request_cancelled: { status: 499, type: "cancelled" },
  engine_unavailable: { status: 503, type: "server_error" },
  // The request may have crashed the engine: SDKs would send it, and crash the engine, twice more.
  engine_crashed: { status: 500, type: "server_error", retry: false },
  upstream_unavailable: { status: 503, type: "server_error" },
  // An upstream failed, perhaps half-way through the computation: the user must decide whether to retry.
  upstream_error: { status: 502, type: "server_error", retry: false },
  // The download was already retried for as long as it could succeed.
  download_failed: { status: 502, type: "server_error", retry: false },
  loop_detected: { status: 508, type: "server_error", retry: false },
  shutting_down: { status: 503, type: "server_error" },
  // An operator must free disk space first.
  storage_full: { status: 507, type: "server_error", retry: false },
  storage_unavailable: { status: 503, type: "server_error", retry: false },
  // A bug is usually deterministic.
  internal_error: { status: 500, type: "server_error", retry: false },
};

/** Error types of the Messages API by status; the statuses are those of the chat dialect. */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  408: "timeout_error",
  413: "request_too_large",
  422: "invalid_request_error",
  429: "rate_limit_error",
  502: "api_error",
  503: "overloaded_error",
  504: "timeout_error",
};

export const ErrorObject = t.Object({
  message: t.String(),
  type: t.String(),
  param: nullable(t.String()),
  code: nullable(t.String()),
  request_id: nullable(t.String()),
});

export const ErrorEnvelope = t.Object({ error: ErrorObject });

/** The form that clients of the Messages API expect. */
export const MessagesError = t.Object({ type: t.Literal("error"), error: ErrorObject, request_id: t.String() });

/** The form that clients of Ollama's API expect. */
export const OllamaError = t.Object({ error: t.String() });

/** The form that clients of Stable Diffusion's web interface expect. */
export const SdapiError = t.Object({
  error: t.String({ description: "The error code." }),
  detail: t.String({ description: "The error message." }),
  body: t.String(),
  errors: t.String({ description: "The error message again." }),
});

/** With these details, SDKs of the Messages API send whole conversations. */
const THREAD_UNSUPPORTED = { error_code: "thread_unsupported_request", unsupported: ["thread"] };

/**
 * Returns an error body that is both the envelope of every route and the form that clients of the Messages API expect:
 * `type` is `error`, and `error.type` is a type of that API.
 */
export function messagesError(error: SvcError, requestId: string) {
  const type = MESSAGES_TYPES[chatErrors[error.code].status] ?? "api_error";
  const details = error.details.param === "thread" ? { details: THREAD_UNSUPPORTED } : {};
  return { type: "error", error: { ...errorObject(error, requestId), type, ...details }, request_id: requestId };
}

/** Returns the `error` object of a response body or of a stream chunk. */
export function errorObject(error: SvcError, requestId: string): Static<typeof ErrorObject> {
  return {
    message: error.message,
    type: chatErrors[error.code].type,
    param: error.details.param ?? null,
    code: error.code,
    request_id: requestId,
  };
}
