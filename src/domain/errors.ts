// The closed set of failures. `contract/errors.ts` maps each code to a status and a type per dialect.

export type ErrorCode =
  | "invalid_json"
  | "invalid_type"
  | "invalid_value"
  | "missing_required_parameter"
  | "unsupported_parameter"
  | "unsupported_media_type"
  | "unsupported_media_input"
  | "context_length_exceeded"
  | "input_audio_buffer_commit_empty"
  | "tokenize_unsupported"
  | "no_speech"
  | "no_text"
  | "no_tables"
  | "unprocessable_media"
  | "mode_unavailable"
  | "payload_too_large"
  | "invalid_api_key"
  | "request_timeout"
  | "forbidden_origin"
  | "forbidden_host"
  | "not_found"
  | "model_not_found"
  | "method_not_allowed"
  | "upgrade_required"
  | "rate_limit_exceeded"
  | "server_busy"
  | "deadline_exceeded"
  | "request_cancelled"
  | "engine_unavailable"
  | "engine_crashed"
  | "upstream_unavailable"
  | "upstream_error"
  | "loop_detected"
  | "download_failed"
  | "shutting_down"
  | "storage_full"
  | "storage_unavailable"
  | "internal_error";

/** Why a request is turned away with `server_busy`. */
export const BUSY_REASONS = ["queue_full", "queue_tokens", "queue_timeout", "deadline"] as const;
export type BusyReason = (typeof BUSY_REASONS)[number];

const IDENTIFIER = /^[\w$-]{1,40}$/;

/** A name that a client chose, as messages show it: what is no plain identifier is free text, which does not come back. */
export const shownName = (name: string): string => (IDENTIFIER.test(name) ? name : "…");

/**
 * A failure with a stable code. `message` is written for the client: it names fields, limits, sizes and types and
 * never repeats text out of a request; engine stderr goes to the log, not here.
 */
export class SvcError extends Error {
  override readonly name = "SvcError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: {
      /** The request field at fault, in dotted form (`messages.0.role`). */
      readonly param?: string;
      /** Whole seconds after which a retry has a chance. */
      readonly retryAfterSeconds?: number;
      /** With `server_busy`: why, for the metrics. */
      readonly busy?: BusyReason;
      /** With a server that is out of reach: the request got there before, and may be why. */
      readonly sent?: true;
    } = {},
  ) {
    super(message);
  }
}

/** The failure itself when it was meant for clients; others go to `onUnexpected`, and the client reads a fixed sentence. */
export function typedError(error: unknown, onUnexpected: (error: unknown) => void): SvcError {
  if (error instanceof SvcError) return error;
  onUnexpected(error);
  return new SvcError("internal_error", "An internal error occurred.");
}

/** The error about a field: "'param' `sentence`." The sentence has no text of the client's. */
export const fieldError = (code: ErrorCode, param: string, sentence: string): SvcError =>
  new SvcError(code, `'${param}' ${sentence}.`, { param });

/** The same of a field that is not there: "'param' is required: `what`." */
export const missing = (param: string, what: string): SvcError =>
  fieldError("missing_required_parameter", param, `is required: ${what}`);

/** The same of a field's value: "'param' must `rule`; got `got`." */
export const invalidValue = (param: string, rule: string, got: string | number): SvcError =>
  fieldError("invalid_value", param, `must ${rule}; got ${got}`);

interface About {
  readonly message: string;
  readonly param?: string;
}

/** What is said about a request, for clients whose fields have other names than ours; `names`: theirs, by ours. */
export function renamed<Refusal extends About>(refusal: Refusal, names: Readonly<Record<string, string>>): Refusal {
  const message = refusal.message.replaceAll(/'([\w.]+)'/g, (quoted, field: string) =>
    Object.hasOwn(names, field) ? `'${names[field]}'` : quoted,
  );
  const { param } = refusal;
  return { ...refusal, message, ...(param !== undefined && { param: names[param] ?? param }) };
}

/** The same of a failure. What is no SvcError stays what it is. */
export function withFieldNames(error: unknown, names: Readonly<Record<string, string>> | undefined): unknown {
  if (!names || !(error instanceof SvcError)) return error;
  const { message, ...details } = renamed({ ...error.details, message: error.message }, names);
  return new SvcError(error.code, message, details);
}

/** Longer estimates are guesses. */
const LONGEST_RETRY_S = 120;

/** What to tell a client that may come back after so many milliseconds. */
export function retryAfterSeconds(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms / 1000), 1), LONGEST_RETRY_S);
}
