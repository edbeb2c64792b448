// A client with nothing between the test and the bytes: no retries, no hidden headers, and it can just leave.

import { connect, type Socket } from "node:net";

export class RawClient {
  received = "";
  closed = false;
  private constructor(readonly socket: Socket) {
    socket.on("data", (chunk) => (this.received += chunk.toString("utf8")));
    socket.on("close", () => (this.closed = true));
    socket.on("error", () => (this.closed = true));
  }

  static connect(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new RawClient(socket)));
      socket.on("error", reject);
    });
  }

  /** Sends a POST with this body; returns without waiting for the answer. */
  post(path: string, body: string, headers: readonly string[] = []): void {
    const head = [`POST ${path} HTTP/1.1`, "Host: localhost", "Content-Type: application/json", ...headers];
    if (!headers.some((line) => /^content-length:/i.test(line)))
      head.push(`Content-Length: ${Buffer.byteLength(body)}`);
    this.socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  }

  /** Leaves without a word. */
  leave(): void {
    this.socket.destroy();
  }
}

const UPGRADE = [
  "Host: localhost",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];
const named = (line: string) => line.split(":", 1)[0];

/** A request for a WebSocket, with these headers besides the usual ones or in their place. */
export function upgradeRequest(headers: readonly string[] = [], path = "/v1/realtime"): string {
  const usual = UPGRADE.filter((line) => !headers.some((one) => named(one) === named(line)));
  return [`GET ${path} HTTP/1.1`, ...usual, ...headers, "\r\n"].join("\r\n");
}
