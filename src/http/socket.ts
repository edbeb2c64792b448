// Connections that become WebSockets: checks their requests and passes their events to a handler.

import { fieldError, invalidValue, SvcError } from "../domain/errors.ts";

/** A connection that messages can be sent on. */
export interface SocketConnection {
  send(text: string): void;
  /** Closes the connection after what was sent, with a code and a reason of RFC 6455. */
  close(code: number, reason: string): void;
}

/** Handles a connection from its upgrade on. */
export interface SocketHandler {
  opened(connection: SocketConnection): void;
  received(message: string | Uint8Array): void;
  /** Called when either side has closed the connection, or when it was never opened. */
  closed(): void;
}

/** Most bytes of a message; a larger one closes the connection (1009). OpenAI's API allows 15 MiB. */
export const LARGEST_MESSAGE = 16 * 2 ** 20;
/** Most bytes that a client may leave unread; more close its connection. */
const MOST_UNREAD = 4 * 2 ** 20;
/** Seconds without a message or an answer to a ping after which a connection is dead. */
const DEAD_SECONDS = 120;

/** The WebSocket handler for Bun's server. */
export const socketHandling: Bun.WebSocketHandler<SocketHandler> = {
  maxPayloadLength: LARGEST_MESSAGE,
  backpressureLimit: MOST_UNREAD,
  closeOnBackpressureLimit: true,
  idleTimeout: DEAD_SECONDS,
  sendPings: true,
  perMessageDeflate: false,
  open: (socket) =>
    socket.data.opened({
      send: (text) => void socket.send(text),
      close: (code, reason) => socket.close(code, reason),
    }),
  message: (socket, message) => socket.data.received(message),
  close: (socket) => socket.data.closed(),
};

/** Throws SvcError `upgrade_required` when a request is no WebSocket upgrade, `invalid_value` about an invalid one. */
export function checkUpgrade(headers: Headers): void {
  const has = (name: string, token: string) => tokens(headers.get(name)).some((one) => one.toLowerCase() === token);
  if (!has("upgrade", "websocket") || !has("connection", "upgrade")) {
    throw new SvcError("upgrade_required", "This route is a WebSocket: the request must ask for that upgrade.");
  }
  const key = headers.get("sec-websocket-key") ?? "";
  if (!/^[a-z0-9+/]{22}==$/i.test(key)) {
    throw invalidValue("Sec-WebSocket-Key", "be 16 bytes in base64", `${key.length} characters`);
  }
  if (headers.get("sec-websocket-version") !== "13") {
    throw fieldError("invalid_value", "Sec-WebSocket-Version", "must be 13");
  }
}

/** Returns the subprotocols that a client offers. */
export const protocolsOf = (headers: Headers): string[] => tokens(headers.get("sec-websocket-protocol"));

/** Returns the answer that turns a connection into a WebSocket; it selects a subprotocol if the client offers it. */
export function switching(headers: Headers, protocol: string): Response {
  const selected = protocolsOf(headers).includes(protocol) ? protocol : "";
  // Without this header, Bun would select the first one offered, which may be an API key; an empty one is not sent.
  return new Response(null, { status: 101, headers: { "Sec-WebSocket-Protocol": selected } });
}

const tokens = (list: string | null): string[] =>
  (list ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
