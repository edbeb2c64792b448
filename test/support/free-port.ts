// A port for a server that is started as another process.

import { createServer } from "node:net";
import { systemErrorCode } from "../../src/domain/system-error-code.ts";

/** Below those that systems give to whoever asks for any port: by the time the server starts, one of these would be taken. */
const PORTS = { from: 10_000, to: 32_000 };

/** A TCP port of the loopback interface that nobody uses at this moment, drawn at random. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", (error) => (systemErrorCode(error) === "EADDRINUSE" ? resolve(false) : reject(error)));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
