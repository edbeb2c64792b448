import { afterAll, beforeAll } from "bun:test";
import { startServer, type ServerProcess } from "./server.ts";

/** A server from before the first test of the file, or of the block, until after its last. */
export function sharedServer(...flags: readonly string[]): ServerProcess {
  let started: ServerProcess | undefined;
  beforeAll(async () => {
    started = await startServer(flags);
  }, 120_000);
  afterAll(() => started?.stop());
  return new Proxy({} as ServerProcess, {
    get(_, name: keyof ServerProcess) {
      if (!started) throw new Error("the server has not been started");
      return started[name];
    },
  });
}
