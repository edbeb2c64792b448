// What happens around every request whatever its route: correlation id, origin check, preflight, connection count and
// the one log line. It encloses Elysia's fetch because no hook of Elysia sees all of 404s, errors and stream ends.

import type { Clock } from "../../domain/clock.ts";
import { SvcError } from "../../domain/errors.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { errorForm } from "../error-form.ts";
import { logUnexpected } from "../log-unexpected.ts";
import type { RequestContext, RequestContexts } from "../request-context.ts";
import type { RouteTable } from "../route-table.ts";
import { errorResponse } from "./errors.ts";
import { allowOrigin, checkOrigin, preflight, type OriginPolicy } from "./origin.ts";

export interface LifecycleDeps {
  readonly contexts: RequestContexts;
  readonly routes: () => RouteTable;
  readonly policy: OriginPolicy;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
}

export type Fetch = (request: Request) => Response | Promise<Response>;

/** Looking at the server does not count as using it. */
const UNCOUNTED = new Set(["/", "/metrics", "/health", "/openapi.json", "/docs"]);

/** Encloses `handle`. */
export class Lifecycle {
  constructor(
    private readonly handle: Fetch,
    private readonly deps: LifecycleDeps,
  ) {}

  readonly fetch = async (request: Request, connection?: string): Promise<Response> => {
    const { contexts, clock, metrics } = this.deps;
    const context = contexts.open(request, clock.now(), connection);
    // Without a Host header there is no URL, only a path.
    const pathname = URL.parse(request.url)?.pathname;
    const counted = pathname === undefined || !UNCOUNTED.has(pathname);
    if (counted) metrics.connectionOpened();
    const response = await this.respond(request, pathname, context);
    response.headers.set("X-Request-ID", context.id);
    response.headers.set("Compat-Request-ID", context.id);
    if (errorForm(pathname ?? "") === "MessagesError") response.headers.set("Request-ID", context.id);
    const ended = () => {
      if (counted) metrics.connectionClosed();
      this.ended(request, pathname, response.status, context);
    };
    if (context.bodyEnded) void context.bodyEnded.finally(ended);
    else ended();
    return response;
  };

  private async respond(request: Request, pathname: string | undefined, context: RequestContext): Promise<Response> {
    const { policy, log } = this.deps;
    try {
      checkOrigin(request.headers, policy);
      if (pathname === undefined)
        throw new SvcError("invalid_value", "The Host header is required.", { param: "Host" });
      const response = await this.route(request, pathname);
      allowOrigin(request.headers, response.headers, policy);
      return response;
    } catch (error) {
      if (error instanceof SvcError) return errorResponse(error, context.id, pathname);
      logUnexpected(log, error, context.id);
      return errorResponse(new SvcError("internal_error", "An internal error occurred."), context.id, pathname);
    }
  }

  private route(request: Request, pathname: string): Response | Promise<Response> {
    const route = request.method === "OPTIONS" ? this.deps.routes().find(pathname) : undefined;
    return route ? preflight(request.headers, route.methods) : this.handle(request);
  }

  private ended(request: Request, pathname: string | undefined, status: number, context: RequestContext): void {
    const { log, clock, routes, metrics } = this.deps;
    const route = routes().find(pathname ?? "")?.pattern ?? "unknown";
    metrics.requestEnded(route, status);
    log.info("request", {
      id: context.id,
      method: request.method,
      route,
      status,
      ms: Math.round(clock.now() - context.startedAt),
      ...context.logFields(),
    });
  }
}
