// What happens around every request whatever its route: correlation id, origin check, preflight, connection count and
// the one log line. It encloses Elysia's fetch because no hook of Elysia sees all of 404s, errors and stream ends.

import type { Clock } from "../../domain/clock.ts";
import { SvcError } from "../../domain/errors.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
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
const UNCOUNTED = new Set(["/metrics", "/health", "/openapi.json", "/docs"]);

/** Encloses `handle`; `activeCount` is the number of responses whose body is not closed yet. */
export class Lifecycle {
  activeCount = 0;

  constructor(
    private readonly handle: Fetch,
    private readonly deps: LifecycleDeps,
  ) {}

  readonly fetch = async (request: Request): Promise<Response> => {
    const { contexts, clock, metrics } = this.deps;
    const context = contexts.open(request, clock.now());
    const { pathname } = new URL(request.url);
    const counted = !UNCOUNTED.has(pathname);
    this.activeCount++;
    if (counted) metrics.connectionOpened();
    const response = await this.respond(request, pathname, context);
    response.headers.set("X-Request-ID", context.id);
    response.headers.set("Compat-Request-ID", context.id);
    const ended = () => {
      this.activeCount--;
      if (counted) metrics.connectionClosed();
      this.logLine(request, pathname, response.status, context);
    };
    if (context.bodyEnded) void context.bodyEnded.finally(ended);
    else ended();
    return response;
  };

  private async respond(request: Request, pathname: string, context: RequestContext): Promise<Response> {
    const { policy, routes } = this.deps;
    try {
      checkOrigin(request.headers, policy);
    } catch (error) {
      if (error instanceof SvcError) return errorResponse(error, context.id);
      throw error;
    }
    const route = request.method === "OPTIONS" ? routes().find(pathname) : undefined;
    const response = route ? preflight(request.headers, route.methods) : await this.handle(request);
    allowOrigin(request.headers, response.headers, policy);
    return response;
  }

  private logLine(request: Request, pathname: string, status: number, context: RequestContext): void {
    const { log, clock, routes } = this.deps;
    log.info("request", {
      id: context.id,
      method: request.method,
      route: routes().find(pathname)?.pattern ?? "unknown",
      status,
      ms: Math.round(clock.now() - context.startedAt),
      ...context.logFields(),
    });
  }
}
