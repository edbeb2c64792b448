// What one HTTP request carries besides its bytes: correlation id, start time, log fields, end of its body.

import type { SvcError } from "../domain/errors.ts";
import { isRequestId, newRequestId } from "../domain/ids.ts";
import type { ClientSecret } from "../domain/live.ts";
import type { LogFields } from "../telemetry/log.ts";
import type { SocketHandler } from "./socket.ts";

export class RequestContext {
  /** More fields for the request's log line, read when the response has ended. */
  logFields: () => LogFields = () => ({});
  /** Set by a streaming response: resolves when its body is closed. */
  bodyEnded: Promise<void> | undefined;
  /** Set where the answer is 101: what the connection does from then on. */
  socket: SocketHandler | undefined;
  /** Set where work goes on after the answer: resolves when it has ended. */
  workEnded: Promise<void> | undefined;
  /** Why it was refused. */
  failure: Pick<SvcError, "code" | "details"> | undefined;
  /** Gives back what the request took of the limits of its API key. */
  release: () => void = () => {};
  /** The name of the API key that the request has, where keys are asked for. */
  apiKey: string | undefined;
  /** That the request has in place of a key. */
  clientSecret: ClientSecret | undefined;
  /** Called with the last bytes of the answer, or in their place: later there is no connection to speak of. */
  bodyEnds: () => void = () => {};

  constructor(
    readonly id: string,
    readonly startedAt: number,
    private readonly claimed: string | undefined,
    private readonly connection: string | undefined,
  ) {}

  /** The request's client, for fair turns: its API key, else X-Svc-Client, else the connection, where that is known. */
  get client(): string | undefined {
    return this.apiKey ?? this.claimed ?? this.connection;
  }

  /** The same for the log: of a connection, its address alone, and no name that is not one. */
  get clientName(): string | undefined {
    if (this.apiKey === undefined && this.claimed !== undefined && isRequestId(this.claimed)) return this.claimed;
    return this.apiKey ?? this.connection?.split(" ")[0];
  }
}

export class RequestContexts {
  private readonly contexts = new WeakMap<Request, RequestContext>();

  /** Starts a request at `now`; its id is the client's X-Request-ID, else Compat-Request-ID, else a new one. */
  open(request: Request, now: number, connection?: string): RequestContext {
    const offered = request.headers.get("x-request-id") ?? request.headers.get("compat-request-id") ?? "";
    const claimed = request.headers.get("x-svc-client") ?? undefined;
    const context = new RequestContext(isRequestId(offered) ? offered : newRequestId(), now, claimed, connection);
    this.contexts.set(request, context);
    return context;
  }

  /** The context of a request that was opened. */
  of(request: Request): RequestContext {
    const context = this.contexts.get(request);
    if (!context) throw new Error("request without context");
    return context;
  }
}
