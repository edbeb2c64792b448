// The closed set of error codes. `contract/errors.ts` maps each code to a status and a type per dialect.

/** The error codes, and for users, in Markdown: what each means and what to do. */
export const ERROR_MEANINGS = {
  invalid_json: "The body is not JSON, or nested too deep, or has too many values.",
  invalid_type: "A field has the wrong type; `param` names it.",
  invalid_value: "A field has a value that is not allowed; the message names the limit.",
  missing_required_parameter: "A required field is missing.",
  unsupported_parameter: "The model, the upstream or this server cannot do what the field requests.",
  unsupported_media_type: "The route does not accept the Content-Type of the body.",
  unsupported_media_input: "The model does not take images or sound, or not in this format.",
  context_length_exceeded:
    "The prompt does not fit the context; the message has both numbers. Shorten it, or start with a larger `--ctx`.",
  input_audio_buffer_commit_empty: "`/v1/realtime`: less sound was committed than can be transcribed.",
  tokenize_unsupported: "This server has no tokenizer for the model in use.",
  no_speech: "There is no speech in the recording.",
  no_text: "There is no text in the image or document.",
  no_tables: "There is no table in the image or document.",
  unprocessable_media: "The image, document or recording is damaged or too large to process.",
  mode_unavailable: "The route exists for compatibility, or needs a model that this server does not have.",
  payload_too_large: "The body is larger than the route takes; it is refused while it is read.",
  invalid_api_key: "The server has API keys, and the request has none of them.",
  request_timeout: "The body did not arrive in time.",
  forbidden_origin: "The request came from a web page of another origin: `--cors-origin` admits it.",
  forbidden_host: "The Host header has a name that the server does not know: `--allowed-host` admits it.",
  not_found: "No such route, file, batch, response or running request.",
  model_not_found: "No model has this name, or its upstream no longer has it.",
  method_not_allowed: "The route does not have this method; `Allow` lists its methods.",
  upgrade_required: "The route is a WebSocket.",
  rate_limit_exceeded:
    "The API key has reached `--key-rpm` or `--key-concurrent`: repeat after `Retry-After`. Or there are too many client secrets, or too much sound or too many events wait in a session of `/v1/realtime`, or a silent session made way for one of another client.",
  server_busy:
    "The queue is full, or the client has its share of one that is more than half full; or the request waited or would wait too long; or there is no room for its body, media or events, or for another live session. Repeat after `Retry-After`.",
  deadline_exceeded: "The time of `X-Svc-Deadline-Ms` passed before the first token or result.",
  request_cancelled: "The request was cancelled by its id or by POST /sdapi/v1/interrupt.",
  engine_unavailable:
    "The model takes too long to load, its engine is down or stalled, memory is short, or the server has no such model or component; the message says which. Repeat after `Retry-After`; without this header, the operator usually has to act.",
  engine_crashed: "The engine process ended while it computed this request, which may be the cause.",
  upstream_unavailable: "The model's upstream cannot be reached.",
  upstream_error: "The model's upstream failed or closed the connection.",
  loop_detected: "Another svc forwarded the request, and its model is on a third server.",
  download_failed: "The model could not be downloaded.",
  shutting_down: "The server is stopping.",
  storage_full: "`--data-size` is used up, or the disk is full.",
  storage_unavailable: "The data folder or its database cannot be used.",
  internal_error: "A bug in svc. Please report it.",
} as const;

export type ErrorCode = keyof typeof ERROR_MEANINGS;

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
