// A client over a plain socket: no retries, no added headers, and it can disconnect at any time.

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

  /** Sends a POST with this body; does not wait for the answer. */
  post(path: string, body: string, headers: readonly string[] = []): void {
    const head = [`POST ${path} HTTP/1.1`, "Host: localhost", "Content-Type: application/json", ...headers];
    if (!headers.some((line) => /^content-length:/i.test(line)))
      head.push(`Content-Length: ${Buffer.byteLength(body)}`);
    this.socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  }

  /** Disconnects without notice. */
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

/** Returns a request for a WebSocket; these headers are added or replace the defaults. */
export function upgradeRequest(headers: readonly string[] = [], path = "/v1/realtime"): string {
  const usual = UPGRADE.filter((line) => !headers.some((one) => named(one) === named(line)));
  return [`GET ${path} HTTP/1.1`, ...usual, ...headers, "\r\n"].join("\r\n");
}
