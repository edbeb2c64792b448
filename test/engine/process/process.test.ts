import { expect, test } from "bun:test";
import { constants, getPriority } from "node:os";
import { EngineProcess } from "../../../src/engine/process/process.ts";

test("an engine gives way to the process that answers its clients", async () => {
  const ended = Promise.withResolvers<void>();
  const engine = new EngineProcess<never, never>({
    command: [process.execPath, "-e", "setInterval(() => {}, 1000)"],
    cwd: process.cwd(),
    env: {},
    onMessage: () => {},
    onExit: () => ended.resolve(),
  });
  try {
    const own = getPriority();
    expect(getPriority(engine.pid)).toBe(Math.min(own + 5, constants.priority.PRIORITY_LOW));
  } finally {
    await engine.stop(1000);
    await ended.promise;
  }
});
