// Renders every failure in the client's error form: what handlers throw, what Elysia finds, and unknown paths.

import { Elysia } from "elysia";
import { nearest } from "../../config/nearest.ts";
import { chatErrors, errorObject, messagesError } from "../../contract/errors.ts";
import { SvcError, typedError } from "../../domain/errors.ts";
import { errorForm, type ErrorForm } from "../error-form.ts";
import type { RequestContext, RequestContexts } from "../request-context.ts";
import type { RouteTable } from "../route-table.ts";

/** The client never sees this answer; the status only appears in the log, as with other servers. */
const CLIENT_CLOSED_REQUEST = 499;

interface ErrorDeps {
  readonly contexts: RequestContexts;
  readonly routes: () => RouteTable;
}

/** Renders everything thrown while a request is handled. */
export const errors = ({ contexts, routes }: ErrorDeps) =>
  new Elysia({ name: "plugin.errors" }).onError({ as: "global" }, ({ code, error, request }) => {
    if (request.signal.aborted) return new Response(null, { status: CLIENT_CLOSED_REQUEST });
    const fail = (thrown: unknown) => failed(thrown, contexts.of(request), request);
    return code === "NOT_FOUND" ? unknownRoute(request, routes(), contexts.of(request), fail) : fail(error);
  });

/** Returns the response of a request that has failed with `thrown`, in the form of its path. */
export function failed(thrown: unknown, context: RequestContext, { url, headers }: Request): Response {
  const error = typedError(thrown, context.onUnexpected);
  context.failure = error;
  return errorResponse(error, context.id, errorForm(URL.parse(url)?.pathname, headers));
}

const bodies: Readonly<Record<ErrorForm, (error: SvcError, requestId: string) => unknown>> = {
  Error: (error, requestId) => ({ error: errorObject(error, requestId) }),
  MessagesError: messagesError,
  OllamaError: ({ message }) => ({ error: message }),
  SdapiError: ({ code, message }) => ({ error: code, detail: message, body: "", errors: message }),
};

/** Returns the response for a failure outside a stream. */
export function errorResponse(error: SvcError, requestId: string, form: ErrorForm = "Error"): Response {
  const { status, retry } = chatErrors[error.code];
  const headers = new Headers();
  const { retryAfterSeconds } = error.details;
  if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
  if (status === 401) headers.set("www-authenticate", "Bearer");
  if (status === 426) headers.set("upgrade", "websocket");
  if (retry === false) headers.set("x-should-retry", "false");
  // Closes the connection: the rest of the incomplete body must not be awaited.
  if (error.code === "request_timeout") headers.set("connection", "close");
  return Response.json(bodies[form](error, requestId), { status, headers });
}

/** Ollama's routes that create, name and publish models. */
const MAKES_MODELS = /^\/api\/(create|copy|push|blobs\/[^/]+)\/?$/;
const NO_MODELS_MADE =
  "svc cannot create or publish models: 'svc pull' downloads one, and --alias adds names to the served one.";

function unknownRoute(
  request: Request,
  routes: RouteTable,
  context: RequestContext,
  fail: (error: SvcError) => Response,
): Response {
  const { pathname } = new URL(request.url);
  const match = routes.find(pathname);
  if (!match) {
    if (MAKES_MODELS.test(pathname)) return fail(new SvcError("not_found", NO_MODELS_MADE));
    const near = nearestRoute(pathname, routes.paths);
    // The log does not repeat the path, which is the client's text.
    context.logFields = () => ({ nearest: near });
    const hint = near === undefined ? "" : ` The nearest is ${near}.`;
    return fail(new SvcError("not_found", `There is no such route; /docs and /openapi.json list all.${hint}`));
  }
  const allow = [...match.methods, "OPTIONS"].join(", ");
  const response = fail(new SvcError("method_not_allowed", `This route allows ${allow}.`));
  response.headers.set("allow", allow);
  return response;
}

/** Longer paths, with the slashes at their ends, are not considered misspelled. */
const LONGEST = 80;

/**
 * Returns the pattern with the fewest edits, else one with another prefix than `path`, else the longest one with the
 * same last segment; undefined when none is near.
 */
function nearestRoute(path: string, patterns: readonly string[]): string | undefined {
  // Before the slashes are removed, which takes the square of their number.
  if (path.length > LONGEST) return undefined;
  const normalized = path.replace(/\/+$/, "").toLowerCase();
  if (normalized.length < 2) return undefined;
  const byEnd = patterns.filter(
    (pattern) => pattern.length > 4 && (normalized.endsWith(pattern) || pattern.endsWith(normalized)),
  );
  const last = normalized.slice(normalized.lastIndexOf("/"));
  const bySegment = patterns.filter((pattern) => last.length > 4 && pattern.endsWith(last) && !pattern.includes(":"));
  const longest = (found: readonly string[]) => found.toSorted((a, b) => b.length - a.length)[0];
  return nearest(normalized, patterns) ?? longest(byEnd) ?? longest(bySegment);
}
