// Connections that become WebSockets: what their requests must have, and what happens on them, whoever listens.

import { fieldError, invalidValue, SvcError } from "../domain/errors.ts";

/** What a connection can be told to do. */
export interface SocketConnection {
  send(text: string): void;
  /** Closes it behind what was sent, with a code and a reason of RFC 6455. */
  close(code: number, reason: string): void;
}

/** What a connection does from its upgrade on. */
export interface SocketHandler {
  opened(connection: SocketConnection): void;
  received(message: string | Uint8Array): void;
  /** It is closed, by whomever, or never was opened. */
  closed(): void;
}

/** Bytes of a message; one that is larger closes its connection (1009). The public convention allows 15 MiB. */
export const LARGEST_MESSAGE = 16 * 2 ** 20;
/** Bytes that a client may leave unread; more close its connection. */
const MOST_UNREAD = 4 * 2 ** 20;
/** Seconds without a word, or an answer to a ping, after which a connection is dead. */
const DEAD_SECONDS = 120;

/** How Bun's server handles them. */
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

/** Throws SvcError `upgrade_required` for a request that asks for no WebSocket, `invalid_value` for one that asks wrongly. */
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

/** The subprotocols that a client offers. */
export const protocolsOf = (headers: Headers): string[] => tokens(headers.get("sec-websocket-protocol"));

/** The answer that makes a connection a WebSocket; a client that offers subprotocols expects one of them. */
export function switching(headers: Headers, protocol: string): Response {
  const isOffered = protocolsOf(headers).includes(protocol);
  return new Response(null, { status: 101, headers: isOffered ? { "Sec-WebSocket-Protocol": protocol } : {} });
}

const tokens = (list: string | null): string[] =>
  (list ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
