// WebSocket /v1/realtime

import { Elysia } from "elysia";
import { parseEvent } from "../../dialect/realtime/decode.ts";
import { RealtimeWire } from "../../dialect/realtime/wire.ts";
import { typedError } from "../../dialect/stream/typed-error.ts";
import { SvcError } from "../../domain/errors.ts";
import type { LiveEnd, LiveEvent } from "../../domain/live.ts";
import type { LiveSession } from "../../service/live/session.ts";
import type { RealtimeService } from "../../service/realtime.ts";
import type { AppDeps } from "../deps.ts";
import { requestOrigin } from "../generation-response.ts";
import { logUnexpected } from "../log-unexpected.ts";
import type { RequestContexts } from "../request-context.ts";
import { checkUpgrade, switching, type SocketConnection, type SocketHandler } from "../socket.ts";

/** Of the public convention. */
const PROTOCOL = "realtime";

/** Codes of RFC 6455, and what is said with them. */
const CLOSING: Readonly<Record<LiveEnd, readonly [code: number, reason: string]>> = {
  wished: [1000, "the session has ended"],
  limit: [1008, "the session reached a limit"],
  shutdown: [1001, "the server is shutting down"],
  failed: [1011, "the session failed"],
};

const queried = (name: string, description: string, schema: object) =>
  ({ name, in: "query", required: false, description, schema }) as const;

const described = {
  detail: {
    parameters: [
      queried("intent", "There is no other.", { type: "string", enum: ["transcription"] }),
      queried("model", "A transcription model; another name stands for the first of them.", { type: "string" }),
    ],
    responses: { 101: { description: "" } },
  },
};

/** Speech as text while it is spoken. */
export const realtimeRoutes = (deps: AppDeps, contexts: RequestContexts, realtime: RealtimeService) =>
  new Elysia({ name: "route.realtime" }).get(
    "/v1/realtime",
    ({ request }) => {
      const { headers, url } = request;
      checkUpgrade(headers);
      const wire = new RealtimeWire({ query: new URL(url).searchParams, headers });
      const { id, client, deadline } = requestOrigin(deps, contexts, request);
      const origin = { id, ...(client !== undefined && { client }), ...(deadline !== undefined && { deadline }) };
      const onUnexpected = (error: unknown) => logUnexpected(deps.log, error, id);
      const socket = new RealtimeSocket(wire, onUnexpected);
      const session = realtime.open(origin, wire.model, socket);
      socket.session = session;
      const context = contexts.of(request);
      context.logFields = () => ({
        finish: socket.how,
        seconds: Math.round(session.seconds * 10) / 10,
        tokens: session.tokens,
      });
      context.bodyEnded = socket.ended;
      context.socket = socket;
      return switching(headers, PROTOCOL);
    },
    described,
  );

/** Between a connection and its session. */
class RealtimeSocket implements SocketHandler {
  session: LiveSession | undefined;
  /** How the session ended. */
  how: LiveEnd | undefined;
  private connection: SocketConnection | undefined;
  private readonly end = Promise.withResolvers<void>();

  constructor(
    private readonly wire: RealtimeWire,
    readonly onUnexpected: (error: unknown) => void,
  ) {}

  /** Resolves when the connection is closed. */
  get ended(): Promise<void> {
    return this.end.promise;
  }

  opened(connection: SocketConnection): void {
    this.connection = connection;
    if (this.how) this.close(this.how);
    else this.session?.begin();
  }

  received(message: string | Uint8Array): void {
    let id: string | undefined;
    try {
      if (typeof message !== "string") {
        const sentence = `An event must be a text message; got a binary one of ${message.length} bytes.`;
        throw new SvcError("unsupported_media_type", sentence);
      }
      const event = parseEvent(message);
      ({ id } = event);
      this.session?.handle(this.wire.read(event), id);
    } catch (error) {
      this.emit({
        type: "error",
        error: typedError(error, this.onUnexpected),
        ...(id !== undefined && { cause: id }),
      });
    }
  }

  closed(): void {
    this.connection = undefined;
    this.session?.close();
    this.end.resolve();
  }

  readonly emit = (event: LiveEvent): void => {
    for (const text of this.wire.write(event)) this.connection?.send(text);
  };

  readonly onEnd = (how: LiveEnd): void => {
    this.how = how;
    this.close(how);
  };

  private close(how: LiveEnd): void {
    this.connection?.close(...CLOSING[how]);
  }
}
