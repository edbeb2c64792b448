// Finds a port for a server that starts as another process.

import { createServer } from "node:net";
import { systemErrorCode } from "../../src/domain/system-error-code.ts";

/** Below the range from which systems assign ephemeral ports: such a port could be taken before the server starts. */
const PORTS = { from: 10_000, to: 32_000 };

/** Returns a random TCP port of the loopback interface that is unused at this moment. */
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
