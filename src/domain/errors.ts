// The closed set of error codes. `contract/errors.ts` maps each code to a status and a type per dialect.

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

/** Why a request is rejected with `server_busy`. */
export const BUSY_REASONS = ["queue_full", "queue_tokens", "queue_timeout", "deadline"] as const;
export type BusyReason = (typeof BUSY_REASONS)[number];

const IDENTIFIER = /^[\w$-]{1,40}$/;

/** Returns a name from a client as messages may show it: free text, anything but a plain identifier, becomes "…". */
export const shownName = (name: string): string => (IDENTIFIER.test(name) ? name : "…");

/**
 * An error with a stable code. `message` is written for the client: it names fields, limits, sizes and types and never
 * repeats text of a request. Output of the engine process goes to the log, not here.
 */
export class SvcError extends Error {
  override readonly name = "SvcError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: {
      /** The request field at fault, in dotted form (`messages.0.role`). */
      readonly param?: string;
      /** Whole seconds after which a retry may succeed. */
      readonly retryAfterSeconds?: number;
      /** With `server_busy` that is not counted yet: why, for the metrics. */
      readonly busy?: BusyReason;
      /** Set if an unreachable server had received the request before: the request may be the cause. */
      readonly sent?: true;
      /** Set if an upstream refuses all requests until its operator, or svc's, changes something. */
      readonly needsOperator?: true;
      /** For the log: address of the replica of an upstream that failed. */
      readonly replica?: string;
    } = {},
  ) {
    super(message);
  }
}

/** Returns an SvcError as it is; passes any other error to `onUnexpected` and returns a plain `internal_error`. */
export function typedError(error: unknown, onUnexpected: (error: unknown) => void): SvcError {
  if (error instanceof SvcError) return error;
  onUnexpected(error);
  return new SvcError("internal_error", "An internal error occurred.");
}

/** Returns an error about a field: "'param' `sentence`." The sentence must not contain text from the client. */
export const fieldError = (code: ErrorCode, param: string, sentence: string): SvcError =>
  new SvcError(code, `'${param}' ${sentence}.`, { param });

/** Returns the error for a missing field: "'param' is required: `what`." */
export const missing = (param: string, what: string): SvcError =>
  fieldError("missing_required_parameter", param, `is required: ${what}`);

/** Returns the error for an invalid value of a field: "'param' must `rule`; got `got`." */
export const invalidValue = (param: string, rule: string, got: string | number): SvcError =>
  fieldError("invalid_value", param, `must ${rule}; got ${got}`);

/** Returns the error with which a server that shuts down refuses and ends requests. */
export const shuttingDown = (): SvcError => new SvcError("shutting_down", "The server is shutting down.");

interface About {
  readonly message: string;
  readonly param?: string;
}

/** Renames the fields in an error, for APIs with other field names. `names`: the client's names by svc's names. */
export function renamed<Refusal extends About>(refusal: Refusal, names: Readonly<Record<string, string>>): Refusal {
  const message = refusal.message.replaceAll(/'([\w.]+)'/g, (quoted, field: string) =>
    Object.hasOwn(names, field) ? `'${names[field]}'` : quoted,
  );
  const { param } = refusal;
  return { ...refusal, message, ...(param !== undefined && { param: names[param] ?? param }) };
}

/** Renames the fields in an SvcError; returns any other value unchanged. */
export function withFieldNames<T>(error: T, names: Readonly<Record<string, string>> | undefined): T | SvcError {
  if (!names || !(error instanceof SvcError)) return error;
  const { message, ...details } = renamed({ ...error.details, message: error.message }, names);
  return new SvcError(error.code, message, details);
}

/** Longer estimates would be guesses. */
const LONGEST_RETRY_S = 120;

/** Returns the whole seconds after which to retry, for an estimate in milliseconds: 1 to LONGEST_RETRY_S. */
export function retryAfterSeconds(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms / 1000), 1), LONGEST_RETRY_S);
}
