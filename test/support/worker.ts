// Starts `svc worker` as a user would, on a free port, until the test ends.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killAtExit } from "./kill-at-exit.ts";
import { childrenOf } from "./processes.ts";
import { PROGRAM } from "./server.ts";
import { until } from "./until.ts";

export interface TestWorker {
  readonly port: number;
  readonly pid: number;
  /** Returns the id of the process that serves requests. */
  servingPid(): number;
  /** The worker's output so far. */
  output(): string;
  /** Kills the worker. */
  kill(): Promise<void>;
  /** Stops the worker and resolves with its exit code. */
  stop(): Promise<number>;
}

/** Starts a worker with one thread and waits until it serves. Throws its output when it does not start. */
export async function startWorker(...flags: readonly string[]): Promise<TestWorker> {
  const folder = mkdtempSync(join(tmpdir(), "svc-worker-"));
  const readyFile = join(folder, "ready");
  const own = ["worker", "--threads", "1", "--ready-file", readyFile, "--log-level", "debug"];
  const port = flags.includes("--port") ? [] : ["--port", "0"];
  const child = Bun.spawn([...PROGRAM, ...own, ...port, ...flags], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const ended = killAtExit(child);
  let output = "";
  const read = (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) output += chunk;
  })();
  const removed = child.exited.then(() => {
    ended();
    rmSync(folder, { recursive: true });
  });
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  await until(() => existsSync(readyFile) || isOver());
  if (isOver()) {
    await read;
    throw new Error(output);
  }
  const address = readFileSync(readyFile, "utf8").trim();
  return {
    port: Number(address.split(":")[1]),
    pid: child.pid,
    output: () => output,
    servingPid: () => childrenOf(child.pid)[0] ?? 0,
    async kill() {
      child.kill("SIGKILL");
      await removed;
    },
    async stop() {
      child.kill("SIGTERM");
      const code = await child.exited;
      await removed;
      return code;
    },
  };
}
