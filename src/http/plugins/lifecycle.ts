// Handling of every request, whatever its route: correlation id, access (host, origin, API key and its limits),
// preflight, connection count and the log line. It encloses Elysia's fetch because no hook of Elysia sees 404s, errors
// and stream ends alike.

import type { Clock } from "../../domain/clock.ts";
import { SvcError } from "../../domain/errors.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { ClientSecrets } from "../../service/client-secrets.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { errorForm } from "../error-form.ts";
import type { JsonBodies } from "../json-body.ts";
import type { RequestContext, RequestContexts } from "../request-context.ts";
import { isLimited, isLook, isOpen, opensSession, takesPassword } from "../access.ts";
import type { RouteTable } from "../route-table.ts";
import { presentedKeys, type ApiKeys } from "./api-keys.ts";
import { failed } from "./errors.ts";
import type { KeyLimits } from "./key-limits.ts";
import { allowOrigin, checkHost, checkOrigin, preflight, type OriginPolicy } from "./origin.ts";
import { addSecurityHeaders } from "./security-headers.ts";

interface LifecycleDeps {
  readonly contexts: RequestContexts;
  readonly routes: () => RouteTable;
  readonly policy: OriginPolicy;
  readonly apiKeys: ApiKeys;
  readonly clientSecrets: Pick<ClientSecrets, "find">;
  readonly keyLimits: KeyLimits;
  readonly bodies: Pick<JsonBodies, "release">;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
}

type Fetch = (request: Request) => Response | Promise<Response>;

/** Wraps `handle`. */
export class Lifecycle {
  constructor(
    private readonly handle: Fetch,
    private readonly deps: LifecycleDeps,
  ) {}

  readonly fetch = async (request: Request, connection?: string, onLastBytes?: () => void): Promise<Response> => {
    const { contexts, clock, metrics, bodies } = this.deps;
    const context = contexts.open(request, clock.now(), connection);
    // Without a Host header the request has only a path, not a URL.
    const pathname = URL.parse(request.url)?.pathname;
    const counted = !isLook(pathname);
    if (counted) metrics.connectionOpened();
    if (onLastBytes) context.onLastBytes = onLastBytes;
    const response = await this.respond(request, pathname, context);
    addSecurityHeaders(response.headers);
    response.headers.set("X-Request-ID", context.id);
    response.headers.set("Compat-Request-ID", context.id);
    if (errorForm(pathname, request.headers) === "MessagesError") response.headers.set("Request-ID", context.id);
    const ended = () => {
      if (counted) metrics.connectionClosed();
      this.ended(request, pathname, response.status, context);
      const release = () => {
        context.release();
        bodies.release(request);
      };
      if (!context.workEnded) return release();
      const isLogged = context.logFields()["finish"] !== undefined;
      void context.workEnded.then(() => {
        if (!isLogged) this.workEnded(context);
        release();
      });
    };
    if (context.bodyClosed) void context.bodyClosed.finally(ended);
    else {
      context.onLastBytes();
      ended();
    }
    return response;
  };

  private async respond(request: Request, pathname: string | undefined, context: RequestContext): Promise<Response> {
    const { policy } = this.deps;
    try {
      checkHost(request.headers, policy);
      checkOrigin(request.headers, policy, isOpen(pathname));
    } catch (error) {
      return failed(error, context, request);
    }
    // From here on, a page may read the error.
    const response = await this.route(request, pathname, context).catch((error: unknown) =>
      failed(error, context, request),
    );
    allowOrigin(request.headers, response.headers, policy);
    return response;
  }

  private async route(request: Request, pathname: string | undefined, context: RequestContext): Promise<Response> {
    const { routes, keyLimits } = this.deps;
    if (pathname === undefined) throw new SvcError("invalid_value", "The Host header is required.", { param: "Host" });
    checkPathIsFound(request.url);
    const route = request.method === "OPTIONS" ? routes().find(pathname) : undefined;
    // A preflight cannot carry a key.
    if (!route) this.identify(request, pathname, context);
    const { apiKey } = context;
    if (apiKey !== undefined && isLimited(request.method, pathname)) context.release = keyLimits.enter(apiKey);
    if (route) return preflight(request.headers, route.methods);
    return request.method === "HEAD" ? this.head(request, context) : this.handle(request);
  }

  /** Answers like GET, without the body: Elysia would read it to its end, even a stream or a file. */
  private async head(request: Request, context: RequestContext): Promise<Response> {
    const get = new Request(request, { method: "GET" });
    this.deps.contexts.share(request, get);
    const response = await this.handle(get);
    const { status, headers } = response;
    const isLong = context.bodyClosed || headers.has("content-length");
    if (isLong) await response.body?.cancel();
    else headers.set("content-length", String((await response.bytes()).length));
    return new Response(null, { status, headers });
  }

  /** Finds out which key the request has. Throws SvcError `invalid_api_key`. */
  private identify({ method, headers }: Request, pathname: string, context: RequestContext): void {
    const { apiKeys, clientSecrets } = this.deps;
    if (opensSession(method, pathname)) context.clientSecret = clientSecrets.find(presentedKeys(headers));
    if (context.clientSecret) context.apiKey = context.clientSecret.apiKey;
    else context.apiKey = isOpen(pathname) ? apiKeys.nameOf(headers) : apiKeys.check(headers, takesPassword(pathname));
  }

  private ended(request: Request, pathname: string | undefined, status: number, context: RequestContext): void {
    const { log, clock, routes, metrics } = this.deps;
    const route = routes().find(pathname ?? "")?.pattern ?? "unknown";
    metrics.requestEnded(route, status, context.apiKey);
    // A page that monitors the server polls it every second.
    log[isLook(pathname) && status < 400 ? "debug" : "info"]("request", {
      id: context.id,
      method: request.method,
      route,
      status,
      client: context.clientName,
      ms: Math.round(clock.now() - context.startedAt),
      code: context.failure?.code,
      param: context.failure?.details.param,
      replica: context.failure?.details.replica,
      ...context.logFields(),
    });
  }

  /** Logs the end of work that has outlasted its request. */
  private workEnded({ id, clientName, startedAt, logFields }: RequestContext): void {
    const { log, clock } = this.deps;
    log.info("response", { id, client: clientName, ms: Math.round(clock.now() - startedAt), ...logFields() });
  }
}

/** Throws SvcError for a short host after `https://`: Elysia looks for the path further back, maybe in the query. */
function checkPathIsFound(url: string): void {
  if (!/^https:\/\/[^/]{1,2}\//.test(url)) return;
  throw new SvcError("forbidden_host", "With HTTPS, a Host of one or two characters is not served at port 443.");
}
