// State of one HTTP request besides its bytes: correlation id, start time, log fields, its reader, end of its body.

import type { SvcError } from "../domain/errors.ts";
import { isRequestId, newRequestId } from "../domain/ids.ts";
import type { ClientSecret } from "../domain/live.ts";
import type { LogFields, Logger } from "../telemetry/log.ts";
import { logUnexpected } from "./log-unexpected.ts";
import type { SocketHandler } from "./socket.ts";
import type { BodyOptions, StreamedBody } from "./sse.ts";

export class RequestContext {
  /** Returns more fields for the request's log line; called when the response has ended. */
  logFields: () => LogFields = () => ({});
  /** Set by a response whose body is a stream: resolves when it is closed. */
  bodyClosed: Promise<void> | undefined;
  /** Set when the answer is 101: handles the connection from then on. */
  socket: SocketHandler | undefined;
  /** Set when work continues after the answer: resolves when the work has ended. */
  workEnded: Promise<void> | undefined;
  /** Why the request failed. */
  failure: Pick<SvcError, "code" | "details"> | undefined;
  /** Releases what the request counts towards the limits of its API key. */
  release: () => void = () => {};
  /** The name of the request's API key, on a server with keys. */
  apiKey: string | undefined;
  /** The client secret that the request has instead of a key. */
  clientSecret: ClientSecret | undefined;
  /**
   * Called when the last bytes of the answer have been handed over, or at once when the answer has no stream. The
   * connection may be gone afterwards.
   */
  onLastBytes: () => void = () => {};
  private left: AbortController | undefined;

  constructor(
    readonly id: string,
    private readonly connected: AbortSignal,
    readonly startedAt: number,
    private readonly claimed: string | undefined,
    private readonly connection: string | undefined,
    private readonly log: Logger,
  ) {}

  /** Logs a failure that is a bug. */
  readonly onUnexpected = (error: unknown): void => logUnexpected(this.log, error, this.id);

  /** Aborted when the client disconnects or stops reading the answer. */
  get signal(): AbortSignal {
    return this.disconnection().signal;
  }

  /** Returns the body that `open` makes for the answer; the request ends with it. */
  stream(open: (reader: BodyOptions) => StreamedBody): ReadableStream<Uint8Array> {
    const left = this.disconnection();
    const { body, ended } = open({ signal: left.signal, abort: () => left.abort(), ends: () => this.onLastBytes() });
    this.bodyClosed = ended;
    return body;
  }

  /** Made on demand, because most requests need none. */
  private disconnection(): AbortController {
    if (this.left) return this.left;
    const left = new AbortController();
    this.connected.addEventListener("abort", () => left.abort(), { once: true });
    if (this.connected.aborted) left.abort();
    return (this.left = left);
  }

  /** The request's client, for fair scheduling: its API key, else X-Svc-Client, else the connection if known. */
  get client(): string | undefined {
    return this.apiKey ?? this.claimed ?? this.connection;
  }

  /** Whose places the request takes where a client may have some that others want: names that clients choose are none. */
  get holder(): string {
    return this.apiKey ?? this.connection?.split(" ", 1)[0] ?? "";
  }

  /** The client for the log: of a connection only its address, and no invalid name. */
  get clientName(): string | undefined {
    if (this.apiKey === undefined && this.claimed !== undefined && isRequestId(this.claimed)) return this.claimed;
    return this.apiKey ?? this.connection?.split(" ")[0];
  }
}

export class RequestContexts {
  private readonly contexts = new WeakMap<Request, RequestContext>();

  constructor(private readonly log: Logger) {}

  /** Opens the context of a request at `now`; its id is X-Request-ID, else Compat-Request-ID, else a new one. */
  open(request: Request, now: number, connection?: string): RequestContext {
    const offered = request.headers.get("x-request-id") ?? request.headers.get("compat-request-id") ?? "";
    const claimed = request.headers.get("x-svc-client") ?? undefined;
    const id = isRequestId(offered) ? offered : newRequestId();
    const context = new RequestContext(id, request.signal, now, claimed, connection, this.log);
    this.contexts.set(request, context);
    return context;
  }

  /** Gives a request's context to one that is handled in its place. */
  share(request: Request, other: Request): void {
    this.contexts.set(other, this.of(request));
  }

  /** Returns the context of a request that was opened. Throws Error for another one. */
  of(request: Request): RequestContext {
    const context = this.contexts.get(request);
    if (!context) throw new Error("request without context");
    return context;
  }
}
