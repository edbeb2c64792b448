// Converts upstreams' failures to svc's errors, without their text: it may contain parts of the request or set-up.

import { SvcError } from "../domain/errors.ts";
import { jsonOf } from "../domain/json.ts";
import { retryAfterMs } from "../domain/retry-after.ts";
import { exceeding } from "../domain/prompt-size.ts";
import { fields, number, objects, text, type Fields } from "./fields.ts";
import { knownRefusal } from "./known-refusals.ts";

/** A failure, and whether a retry may help. */
export class UpstreamFailure extends Error {
  override readonly name = "UpstreamFailure";

  constructor(
    readonly error: SvcError,
    /**
     * `elsewhere`: another replica may succeed; `other kind`: a replica of another kind may; `later`: any, or this one
     * after a while.
     */
    readonly retry: "later" | "elsewhere" | "other kind" | "never",
    /** Whether the failure concerns the server's health, not this request or the load; `unclear`: perhaps. */
    readonly sick: boolean | "unclear",
  ) {
    super(error.message);
  }

  /** Returns this failure as one of the replica with this address. */
  at(replica: string): UpstreamFailure {
    const { code, message, details } = this.error;
    return new UpstreamFailure(new SvcError(code, message, { ...details, replica }), this.retry, this.sick);
  }
}

/** The server does not accept svc's key. */
export class KeyRefusal extends UpstreamFailure {
  /** `status`: the HTTP status of the refusal. */
  constructor(status: number) {
    const why = `The server of this model does not accept svc's key (${status}): see --upstream-key.`;
    // 403 may be about the model or the content of one request.
    super(new SvcError("upstream_error", why, status === 401 ? { needsOperator: true } : {}), "elsewhere", false);
  }
}

/** Returns the failure of a server to which nothing can be sent. `what` continues "The server of this model". */
export const unreachable = (what: string): UpstreamFailure => new UpstreamFailure(unavailable(what), "later", true);

/**
 * Returns the failure of a connection that was lost after the request was sent and before the answer ended. `what` as
 * above.
 */
export const lost = (what: string): UpstreamFailure =>
  new UpstreamFailure(unavailable(what, { sent: true }), "later", true);

/** Converts an error while reading from a server to a failure. */
export const failureFrom = (error: unknown): UpstreamFailure =>
  error instanceof UpstreamFailure ? error : lost("broke the connection");

/** Returns the failure of a server that sent nothing for `seconds` after the request. */
export const silent = (seconds: number): UpstreamFailure =>
  elsewhere(unavailable(`was silent for ${seconds} s`, { sent: true }), true);

const unavailable = (what: string, details: { readonly sent?: true } = {}) =>
  new SvcError("upstream_unavailable", `The server of this model ${what}.`, { retryAfterSeconds: 5, ...details });

/** Returns the error about a server of which svc does not know yet what it has and supports. */
export const notListed = (): SvcError => unavailable("has not listed its models yet");

const elsewhere = (error: SvcError, sick: UpstreamFailure["sick"] = false) =>
  new UpstreamFailure(error, "elsewhere", sick);

const failing = (what: string, sick: UpstreamFailure["sick"], details: SvcError["details"] = {}) =>
  elsewhere(new SvcError("upstream_error", `The server of this model ${what}.`, details), sick);

/** Returns the failure of a server that refuses all requests until an operator changes something. `what` as above. */
const misconfigured = (what: string) => failing(what, false, { needsOperator: true });

/** Returns the failure of a response that is not an answer. `what` continues "The server of this model". */
export const malformed = (what: string): UpstreamFailure => failing(what, true);

/** Returns the failure of a server that answers 404 when asked for its models. */
export const noListing = (): UpstreamFailure => failing("has nothing at /v1/models: check its address", false);

/** Returns the failure of a model whose answer is not what was requested; its server is well. `what` as above. */
export const wrongAnswer = (what: string): UpstreamFailure => failing(what, false);

/** Returns the failure for a model that the server listed, but no longer has. */
export const modelGone = (): UpstreamFailure =>
  elsewhere(new SvcError("model_not_found", "The server of this model does not have it any more.", { param: "model" }));

/** Returns the error for a request that another svc forwarded, and that must not be forwarded again. */
export const passedOnAlready = () =>
  new SvcError("loop_detected", "Another svc has already forwarded this request; it is not forwarded a second time.");

const CONTEXT = /maximum model length|context.{0,24}(length|size|window)|exceed_context|maximum context/i;
/** How llama.cpp reports that an input for vectors is too long, with status 500. */
const TOO_LARGE = /^input \(\d+ tokens\) is (too large to process|larger than)/;
const LONGEST_ERROR = 64 * 1024;

/** Converts a response with an error status. Reads its body only up to a limit. */
export async function failureOf(response: Response, now: number): Promise<UpstreamFailure> {
  const body = jsonOf(await beginningOf(response, LONGEST_ERROR).catch(() => ""));
  const ms = retryAfterMs(response.headers, now);
  return statusFailure(response.status, body, ms === undefined ? undefined : Math.ceil(ms / 1000));
}

/** Returns the start of a body's text: at least `longest` characters if there are as many, up to the end of a chunk. */
export async function beginningOf({ body }: Response, longest: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  // Leaving the loop cancels the rest of the body.
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longest) break;
  }
  return text;
}

/** Returns the failure that an answer with status 200, or a message of a stream, reports, if any. */
export function streamedFailure(chunk: unknown): UpstreamFailure | undefined {
  const error = fields(chunk)["error"];
  if (error == null || error === false) return undefined;
  const code = number(fields(error)["code"]) ?? number(fields(error)["status"]);
  return statusFailure(code ?? statusOf(text(fields(error)["code"])), chunk, undefined);
}

/** Returns the status for an error code of svc or the OpenAI-compatible API: 503 if it says that a retry may help. */
const statusOf = (code: string | undefined): number =>
  code === "server_busy" || code === "engine_unavailable" || code === "shutting_down" ? 503 : 500;

/** What statuses say that are not about the request; continues "The server of this model". */
const SERVER_STATUS: Readonly<Record<number, string>> = {
  402: "requires payment",
  407: "is behind a proxy that requires a password",
  408: "timed out",
};

function statusFailure(status: number, body: unknown, retryAfterSeconds: number | undefined): UpstreamFailure {
  const whole = fields(body);
  const error = { ...whole, ...fields(whole["error"]) };
  const message = text(error["message"]) ?? text(whole["error"]) ?? text(whole["detail"]) ?? "";
  const code = text(error["code"]) ?? text(error["type"]) ?? "";
  // Such a refusal depends on how the server was started, and another replica may have been started differently.
  const known = knownRefusal(message);
  const never = (failure: SvcError) => new UpstreamFailure(failure, "never", false);
  if (status >= 300 && status < 400)
    return misconfigured(`redirects requests (${status}): redirects are not followed; set its final address`);
  if (status === 400 || status === 413 || status === 422) {
    if (CONTEXT.test(code) || CONTEXT.test(message)) return elsewhere(contextExceeded(error));
    if (status === 413)
      return never(
        new SvcError("payload_too_large", "The server of this model does not accept a request of this size."),
      );
    return known ? elsewhere(known) : new UpstreamFailure(refused(error, status), "other kind", false);
  }
  if (status === 401 || status === 403) return new KeyRefusal(status);
  if (status === 404) {
    // The server lacks the route, not the model.
    if (whole["detail"] === "Not Found") return otherKind(status);
    // A proxy may have sent it, or a server without JSON errors for its routes.
    if (body === undefined) return elsewhere(otherKind(status).error);
    const why = "The server of this model has no model with this name.";
    return elsewhere(new SvcError("model_not_found", why, { param: "model" }));
  }
  if (status === 508) {
    const why =
      "The upstream of this model is an svc that would forward the request again: name the server behind it with --upstream.";
    return never(new SvcError("loop_detected", why, { needsOperator: true }));
  }
  if (status === 429 || status === 503) {
    const details = { retryAfterSeconds: retryAfterSeconds ?? 1, busy: "queue_full" } as const;
    return new UpstreamFailure(
      new SvcError("server_busy", "The server of this model is at capacity.", details),
      "later",
      false,
    );
  }
  if (status === 500 && TOO_LARGE.test(message)) return elsewhere(contextExceeded(error));
  // llama.cpp reports images in this way.
  if (status === 500 && known) return elsewhere(known);
  if (status === 501) return otherKind(status);
  // A proxy also sends this status when the server crashes during the request.
  if (status === 502) return lost("reported a bad gateway (502)");
  // Other statuses below 500 are about the server, its account or a proxy, and another replica may differ.
  const what = `${SERVER_STATUS[status] ?? "failed"} (${status})`;
  return status === 402 || status === 407 ? misconfigured(what) : failing(what, status >= 500 && "unclear");
}

/** Returns the failure of a server that lacks the route, or whose model has another purpose. */
function otherKind(status: number): UpstreamFailure {
  const why = `'model': its server does not answer requests of this kind (${status}).`;
  return new UpstreamFailure(new SvcError("unsupported_parameter", why, { param: "model" }), "other kind", false);
}

/** Where messages of svc and vLLM's versions have the numbers of llama.cpp's fields; the first match counts. */
const PROMPT_TOKENS = [
  /(\d{1,9}) in the (?:messages|prompt)/,
  /prompt is too long: (\d{1,9}) tokens/,
  /(?:prompt has|request has|requested|contains) (?:at least )?(\d{1,9}) (?:input )?tokens/,
];
const ANSWER_TOKENS = [/requested (\d{1,9}) output tokens/, /is too large: (\d{1,9})/, /(\d{1,9}) in the completion/];
const CONTEXT_TOKENS = [/context(?: length)? is (\d{1,9}) tokens/];

function numberIn(message: string, patterns: readonly RegExp[]): number | undefined {
  const [found] = patterns.flatMap((pattern) => pattern.exec(message)?.[1] ?? []);
  return found === undefined ? undefined : Number(found);
}

function contextExceeded(error: Readonly<Record<string, unknown>>): SvcError {
  const said = text(error["message"]) ?? "";
  const promptTokens = number(error["n_prompt_tokens"]) ?? numberIn(said, PROMPT_TOKENS);
  const limit = number(error["n_ctx"]) ?? numberIn(said, CONTEXT_TOKENS);
  const isKnown = promptTokens !== undefined && limit !== undefined;
  const answer = numberIn(said, ANSWER_TOKENS) ?? 0;
  if (isKnown && promptTokens < limit && answer > 0) {
    // Some servers stop counting when the rest cannot fit.
    const why = `'max_tokens': the prompt has at least ${promptTokens} tokens and the answer may have ${answer}, but the context of this model has ${limit}.`;
    return new SvcError("context_length_exceeded", why, { param: "max_tokens" });
  }
  const fits = !isKnown || promptTokens < limit;
  const message = fits ? "The prompt is too long for the context of this model." : `${exceeding(promptTokens, limit)}.`;
  return new SvcError("context_length_exceeded", message, { param: "messages" });
}

/** Returns the first field that FastAPI found invalid: `{"detail": [{"loc": ["body", "field", …]}]}`. */
function invalidField({ detail }: Fields): string | undefined {
  const [first = {}] = objects(detail);
  const { loc } = first;
  return Array.isArray(loc) ? text(loc[1]) : undefined;
}

const IDENTIFIER = /^[a-z][a-z0-9_.]{1,60}$/;

/** Returns a refusal that names the server's field or code, if that is an identifier and not free text. */
function refused(error: Readonly<Record<string, unknown>>, status: number): SvcError {
  const param = text(error["param"]) ?? invalidField(error);
  const known = param !== undefined && IDENTIFIER.test(param) ? param : undefined;
  const code = text(error["code"]) ?? text(error["type"]);
  const why = code !== undefined && IDENTIFIER.test(code) ? ` (${code})` : "";
  const what = known === undefined ? "the request" : `'${known}'`;
  const message = `The server of this model refused ${what} with status ${status}${why}.`;
  return new SvcError("invalid_value", message, known === undefined ? {} : { param: known });
}
