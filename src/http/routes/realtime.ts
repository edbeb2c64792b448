// WebSocket /v1/realtime, POST /v1/realtime/client_secrets and /v1/realtime/transcription_sessions

import { Elysia } from "elysia";
import {
  ClientSecret,
  ClientSecretRequest,
  FlatClientSecret,
  FlatClientSecretRequest,
} from "../../contract/realtime.ts";
import { decodeClientSecret, decodeFlatClientSecret, type SecretRequest } from "../../dialect/realtime/decode.ts";
import { encodeClientSecret, SETTING_PATHS } from "../../dialect/realtime/encode.ts";
import { RealtimeWire } from "../../dialect/realtime/wire.ts";
import { ByteBudget } from "../../domain/byte-budget.ts";
import { withFieldNames } from "../../domain/errors.ts";
import { TurnLimit } from "../../domain/turn-limit.ts";
import type { ClientSecrets } from "../../service/client-secrets.ts";
import type { RealtimeService } from "../../service/realtime.ts";
import type { AppDeps } from "../deps.ts";
import { requestOrigin } from "../generation-response.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";
import { RealtimeSocket, type SharedLimits } from "../realtime-socket.ts";
import { checkUpgrade, switching } from "../socket.ts";

/** The subprotocol of OpenAI's API. */
const PROTOCOL = "realtime";

/** Characters of events that all sessions together handle in an event loop turn: some milliseconds of work. */
const CHARACTERS_IN_A_TURN = 2 ** 20;
/** Most bytes of the waiting events of all sessions: the sound that may wait, of six sessions that send it at once. */
const MOST_WAITING = 256 * 2 ** 20;

interface RealtimeServices {
  readonly realtime: RealtimeService;
  readonly clientSecrets: ClientSecrets;
}

/** Transcribes speech while it is spoken, and creates secrets with which pages open sessions. */
export function realtimeRoutes(deps: AppDeps, services: RealtimeServices) {
  const { realtime, clientSecrets } = services;
  const shared = {
    turns: new TurnLimit(CHARACTERS_IN_A_TURN),
    waiting: new ByteBudget(MOST_WAITING, "waiting events of live sessions"),
  };
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
    .get("/v1/realtime", ({ request }) => openSession(deps, realtime, shared, request), {
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

function openSession(deps: AppDeps, realtime: RealtimeService, shared: SharedLimits, request: Request): Response {
  const { headers, url } = request;
  checkUpgrade(headers);
  const wire = new RealtimeWire({ query: new URL(url).searchParams, headers });
  const origin = requestOrigin(deps, request);
  const context = deps.contexts.of(request);
  const socket = new RealtimeSocket(wire, shared, context.onUnexpected);
  const settings = context.clientSecret?.settings ?? realtime.settings({ ...(wire.model && { model: wire.model }) });
  const session = realtime.open(origin, settings, socket);
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
