// Starts and stops listening. It uses Bun's server directly: Elysia's own `listen` binds all interfaces, shares ports,
// ends silent answers after 30 s and bypasses the handling that encloses Elysia here.

import { isIP } from "node:net";
import type { Config } from "../config/config.ts";
import type { Timers } from "../domain/clock.ts";
import { systemErrorCode } from "../domain/system-error-code.ts";
import type { RequestService } from "../service/request.ts";
import { isOpen } from "./access.ts";
import type { App } from "./app.ts";
import { socketHandling, type SocketHandler } from "./socket.ts";
import { TurnLimit } from "../domain/turn-limit.ts";

/** Thrown when the server cannot listen; `message` is for the operator. */
export class ListenError extends Error {
  override readonly name = "ListenError";

  constructor(
    readonly reason: "in-use" | "not-permitted" | "no-such-address" | "failed",
    message: string,
  ) {
    super(message);
  }
}

export interface RunningServer {
  /** Address without a trailing slash, such as `http://127.0.0.1:9999`. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting requests. Running requests may finish within the drain timeout and are then cancelled. Resolves
   * when every connection is closed.
   */
  stop(): Promise<void>;
}

/** No limit: every route that reads a body has a ceiling of its own, and says so; Bun would answer without a word. */
const BUN_BODY_LIMIT = Number.MAX_SAFE_INTEGER;
/** Seconds after which a connection without traffic and without a running request is closed. */
const IDLE_SECONDS = 75;
/** Requests that begin in one event loop turn: even the most expensive immediate answers then take milliseconds. */
const REQUESTS_IN_A_TURN = 8;
/** Milliseconds that cancelled requests and written responses have to finish. */
const LAST_BYTES_MS = 1000;

/** Serves `app` at `config.host` and `config.port` (0: any free port). Throws ListenError. */
export function listen(
  app: App,
  config: Config,
  { requests, clock }: { readonly requests: Pick<RequestService, "drain" | "cancelAll">; readonly clock: Timers },
): RunningServer {
  const server = serve(app, config);
  const port = server.port ?? config.port;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return {
    url: `${config.tls ? "https" : "http"}://${host}:${port}`,
    port,
    async stop() {
      const closed = server.stop();
      const ended = Promise.all([app.batches.stop(), requests.drain(), app.realtime.drain()]);
      const drained = ended.then(() => idle(server));
      await atMost(clock, config.drainTimeoutMs, drained);
      requests.cancelAll();
      await atMost(clock, LAST_BYTES_MS, drained);
      await atMost(clock, 50, closed);
      await server.stop(true);
    },
  };
}

/** Throws ListenError when `listen` could not listen at this moment. */
export async function checkAddress({ host, port }: Config): Promise<void> {
  try {
    const fetch = () => new Response(null, { status: 503 });
    await Bun.serve({ hostname: host, port, reusePort: false, development: false, fetch }).stop(true);
  } catch (error) {
    throw listenError(error, host, port);
  }
}

function serve(app: App, config: Config) {
  const { host, port, tls } = config;
  const turns = new TurnLimit(REQUESTS_IN_A_TURN);
  try {
    return Bun.serve<SocketHandler>({
      hostname: host,
      port,
      reusePort: false,
      ...(tls && { tls }),
      // Independently of this, Bun requires that a connection's first request head arrives within 12 seconds.
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: BUN_BODY_LIMIT,
      development: false,
      websocket: socketHandling,
      async fetch(received, bun) {
        const peer = bun.requestIP(received);
        // During a long prefill a connection is silent but not dead.
        bun.timeout(received, 0);
        const ended = () => bun.timeout(received, IDLE_SECONDS);
        const turn = turns.enter();
        if (turn) await turn;
        const request = addressed(received);
        const response = await app.fetch(request, peer ? `${peer.address} ${peer.port}` : undefined, ended);
        const data = app.socketOf(request);
        if (!data) return response;
        if (bun.upgrade(received, { data, headers: response.headers })) return undefined;
        // The client has disconnected meanwhile.
        data.closed();
        return new Response(null, { status: 400 });
      },
    });
  } catch (error) {
    throw listenError(error, host, port);
  }
}

/** Gives a URL to a request for a public route without Host: load balancers probe with HTTP/1.0, which needs none. */
function addressed(request: Request): Request {
  if (!request.url.startsWith("/")) return request;
  const url = `http://localhost${request.url}`;
  return isOpen(URL.parse(url)?.pathname) ? new Request(url, request) : request;
}

const NO_ADDRESS: ReadonlySet<unknown> = new Set(["EADDRNOTAVAIL", "EINVAL"]);

function listenError(error: unknown, host: string, port: number): ListenError {
  const code = systemErrorCode(error);
  if (code === "EADDRINUSE") return new ListenError("in-use", `Port ${port} on ${host} is in use by another program.`);
  if (code === "EACCES") return new ListenError("not-permitted", `Listening on port ${port} is not permitted.`);
  // Names that are unknown or cannot be resolved yield many different codes.
  if (NO_ADDRESS.has(code) || isIP(host) === 0) {
    return new ListenError("no-such-address", `${host} is not an address of this machine.`);
  }
  return new ListenError("failed", `Cannot listen on ${host}, port ${port}.`);
}

/** Waits for `work`, at most `ms` milliseconds; leaves no timer behind that would keep the process alive. */
async function atMost(clock: Timers, ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const stopTimer = clock.after(ms, resolve);
  await Promise.race([work, late]);
  stopTimer();
}

/** Waits until every request is done and the last byte of its answer is sent, and until all sockets are closed. */
async function idle(server: Pick<Bun.Server<SocketHandler>, "pendingRequests" | "pendingWebSockets">): Promise<void> {
  while (server.pendingRequests > 0 || server.pendingWebSockets > 0) await Bun.sleep(5);
}
