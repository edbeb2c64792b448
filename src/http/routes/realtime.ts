// WebSocket /v1/realtime, POST /v1/realtime/client_secrets and /v1/realtime/transcription_sessions

import { Elysia } from "elysia";
import {
  ClientSecret,
  ClientSecretRequest,
  FlatClientSecret,
  FlatClientSecretRequest,
} from "../../contract/realtime.ts";
import {
  decodeClientSecret,
  decodeFlatClientSecret,
  parseEvent,
  type SecretRequest,
} from "../../dialect/realtime/decode.ts";
import { encodeClientSecret, SETTING_PATHS } from "../../dialect/realtime/encode.ts";
import { RealtimeWire } from "../../dialect/realtime/wire.ts";
import { SvcError, typedError, withFieldNames } from "../../domain/errors.ts";
import type { LiveEnd, LiveEvent } from "../../domain/live.ts";
import type { ClientSecrets } from "../../service/client-secrets.ts";
import type { LiveSession } from "../../service/live/session.ts";
import type { RealtimeService } from "../../service/realtime.ts";
import type { AppDeps } from "../deps.ts";
import { requestOrigin } from "../generation-response.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";
import { checkUpgrade, LARGEST_MESSAGE, switching, type SocketConnection, type SocketHandler } from "../socket.ts";
import { TurnLimit } from "../../domain/turn-limit.ts";

/** The subprotocol of OpenAI's API. */
const PROTOCOL = "realtime";

/** Characters of events that all sessions together handle in an event loop turn: some milliseconds of work. */
const CHARACTERS_IN_A_TURN = 2 ** 20;
/** What the shortest event counts, in characters: as much work as there is in an event without any. */
const SHORTEST_COUNTS = 4096;
/** Most events of a session that may wait: all the sound that may wait, in pieces of 15 ms. */
const MOST_EVENTS = 20_000;
/** Most characters of waiting events. */
const MOST_WAITING = 4 * LARGEST_MESSAGE;

/** Close codes and reasons of RFC 6455. */
const CLOSING: Readonly<Record<LiveEnd, readonly [code: number, reason: string]>> = {
  closed: [1000, "the session has ended"],
  limit: [1008, "the session reached a limit"],
  shutdown: [1001, "the server is shutting down"],
  failed: [1011, "the session failed"],
};

interface RealtimeServices {
  readonly realtime: RealtimeService;
  readonly clientSecrets: ClientSecrets;
}

/** Transcribes speech while it is spoken, and creates secrets with which pages open sessions. */
export function realtimeRoutes(deps: AppDeps, services: RealtimeServices) {
  const { realtime, clientSecrets } = services;
  const turns = new TurnLimit(CHARACTERS_IN_A_TURN);
  const makeSecret = async (request: Request, decode: (body: unknown) => SecretRequest, isFlat: boolean) => {
    const { changes, seconds } = decode(await deps.bodies.read(request, bodyCeilings.small));
    const { apiKey, holder } = deps.contexts.of(request);
    const headers = { "Cache-Control": "no-store" };
    try {
      const secret = { settings: realtime.settings(changes), holder, ...(apiKey !== undefined && { apiKey }) };
      return Response.json(encodeClientSecret(clientSecrets.create(secret, seconds), isFlat), { headers });
    } catch (error) {
      throw withFieldNames(error, isFlat ? undefined : SETTING_PATHS);
    }
  };
  return new Elysia({ name: "route.realtime" })
    .get("/v1/realtime", ({ request }) => openSession(deps, realtime, turns, request), {
      detail: { responses: { 101: { description: "" } } },
    })
    .post(
      "/v1/realtime/client_secrets",
      ({ request }) => makeSecret(request, decodeClientSecret, false),
      jsonRoute(ClientSecretRequest, ClientSecret),
    )
    .post(
      "/v1/realtime/transcription_sessions",
      ({ request }) => makeSecret(request, decodeFlatClientSecret, true),
      jsonRoute(FlatClientSecretRequest, FlatClientSecret),
    );
}

function openSession(deps: AppDeps, realtime: RealtimeService, turns: TurnLimit, request: Request): Response {
  const { headers, url } = request;
  checkUpgrade(headers);
  const wire = new RealtimeWire({ query: new URL(url).searchParams, headers });
  const origin = requestOrigin(deps, request);
  const context = deps.contexts.of(request);
  const socket = new RealtimeSocket(wire, turns, context.onUnexpected);
  const settings = context.clientSecret?.settings ?? realtime.settings({ ...(wire.model && { model: wire.model }) });
  const session = realtime.open(origin, settings, socket, context.holder);
  socket.session = session;
  context.logFields = () => ({
    finish: socket.how,
    seconds: Math.round(session.seconds * 10) / 10,
    completion: session.tokens,
  });
  context.bodyClosed = socket.ended;
  context.socket = socket;
  return switching(headers, PROTOCOL);
}

/** Connects a WebSocket to its session. */
class RealtimeSocket implements SocketHandler {
  session: LiveSession | undefined;
  /** How the session ended. */
  how: LiveEnd | undefined;
  private connection: SocketConnection | undefined;
  private readonly end = Promise.withResolvers<void>();
  private readonly waiting: (string | Uint8Array)[] = [];
  /** Characters of the messages that are waiting. */
  private waitingCharacters = 0;

  /** `turns`: the turns of all sessions, of which each waits for one at a time. */
  constructor(
    private readonly wire: RealtimeWire,
    private readonly turns: TurnLimit,
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
    if (this.how) return;
    if (this.waiting.length >= MOST_EVENTS || this.waitingCharacters > MOST_WAITING) return this.refuseMore();
    this.waitingCharacters += message.length;
    if (this.waiting.push(message) === 1) void this.work();
  }

  /** Handles the waiting messages, each in its turn, until none is left or the session has ended. */
  private async work(): Promise<void> {
    for (let [message] = this.waiting; message !== undefined; [message] = this.waiting) {
      const turn = this.turns.enter(Math.max(message.length, SHORTEST_COUNTS));
      if (turn) await turn;
      if (this.how) return void this.waiting.splice(0);
      this.waiting.shift();
      this.waitingCharacters -= message.length;
      this.take(message);
    }
  }

  private refuseMore(): void {
    const message = `At most ${MOST_EVENTS} events, or ${MOST_WAITING} characters of them, may wait: the session ends.`;
    this.session?.fail(new SvcError("rate_limit_exceeded", message), "limit");
  }

  private take(message: string | Uint8Array): void {
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
    // Discards the messages that are still waiting.
    this.how ??= "closed";
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
