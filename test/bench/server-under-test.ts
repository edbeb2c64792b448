// Starts and stops one of the servers, and reads the memory of its whole process tree.

import { freePort } from "../support/free-port.ts";
import { processTree, residentBytes } from "../support/processes.ts";
import { killAtExit } from "../support/kill-at-exit.ts";

/** `before` is an earlier svc; a name that begins with a dash is svc with that additional option. */
export type Side = "svc" | "llama-server" | "before" | `--${string}`;

export interface LaunchPlan {
  readonly side: Side;
  /** Everything but the port, which is appended as `--port N`. */
  readonly command: readonly string[];
}

export interface Memory {
  /** Resident bytes of all processes. */
  readonly resident: number;
  /** Sum of the peak resident size of each process. */
  readonly peak: number;
  /** Resident bytes of the process that was started. */
  readonly front: number;
}

export interface RunningServer {
  readonly port: number;
  readonly pid: number;
  /** Milliseconds from spawning to the first healthy answer. */
  readonly readyMs: number;
  /** Undefined on systems other than Linux. */
  memory(): Memory | undefined;
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 120_000;

/** Starts the server on a free port and waits until it can generate. Throws with its output when it ends instead. */
export async function launch(plan: LaunchPlan): Promise<RunningServer> {
  const port = await freePort();
  const started = performance.now();
  const child = Bun.spawn([...plan.command, "--port", String(port)], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const ended = killAtExit(child);
  const output = child.stderr.text();
  try {
    await waitUntilReady(port, () => child.exitCode !== null || child.signalCode !== null);
  } catch (error) {
    child.kill("SIGKILL");
    ended();
    throw new Error(`${plan.side}: ${String(error)}\n${(await output).slice(-2000)}`);
  }
  return {
    port,
    pid: child.pid,
    readyMs: performance.now() - started,
    memory: () => readMemory(child.pid),
    stop: async () => {
      child.kill("SIGTERM");
      const kill = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await child.exited;
      clearTimeout(kill);
      ended();
    },
  };
}

async function waitUntilReady(port: number, hasEnded: () => boolean): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (hasEnded()) throw new Error("ended while starting");
    try {
      const response = await fetch(`http://127.0.0.1:${port}/health`);
      const { status } = (await response.json()) as { status?: string };
      if (response.ok && (status === "ok" || status === "healthy")) return;
    } catch {
      // not listening yet
    }
    await Bun.sleep(4);
  }
  throw new Error(`not ready after ${READY_TIMEOUT_MS / 1000} s`);
}

function readMemory(root: number): Memory | undefined {
  if (process.platform !== "linux") return undefined;
  const tree = processTree(root);
  const sum = (which: "now" | "peak") => tree.reduce((total, pid) => total + residentBytes(pid, which), 0);
  return { resident: sum("now"), peak: sum("peak"), front: residentBytes(root) };
}
