// Starts the real program as a user would: `bun src/main.ts` in its own process, on a free port, until the test ends.
// It stores its data in a temporary folder.

import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { killAtExit } from "./kill-at-exit.ts";
import type { Levels } from "./metrics-text.ts";
import { isIdle, readLevels } from "./metrics-text.ts";
import { post, type PostOptions } from "./post.ts";
import { childrenOf } from "./processes.ts";
import { until } from "./until.ts";

export interface Health {
  readonly status: string;
  readonly timestamp: number;
  readonly engine: {
    readonly state: string;
    readonly restarts: number;
    readonly stalled_since?: number;
    readonly last_error?: string | null;
    readonly device?: string;
  };
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The id of the current engine process. Throws when there is none. */
  enginePid(): number;
  health(): Promise<Health>;
  metrics(): Promise<string>;
  levels(): Promise<Levels>;
  post(path: string, body: object | string, options?: PostOptions): Promise<Response>;
  /** Resolves with the milliseconds until the server was idle; throws with the levels after `timeoutMs`. */
  untilIdle(timeoutMs: number): Promise<number>;
  untilReady(): Promise<void>;
}

const ROOT = join(import.meta.dir, "../..");
const READY_TIMEOUT_MS = 60_000;

const executable = process.env["TEST_PROGRAM"];

/** The command that starts the program: from source, or the executable of `compile-program.ts` that this variable names. */
export const PROGRAM: readonly string[] = executable ? [executable] : [process.execPath, join(ROOT, "src/main.ts")];

export interface ServerProcess extends TestServer {
  /** Stops the server; throws when it does not end cleanly. */
  stop(): Promise<void>;
  /** Waits until the server has logged these words. */
  untilLogged(words: string): Promise<void>;
  /** Kills the server and resolves with its output. */
  kill(): Promise<string>;
}

/**
 * Starts a server with these flags, on port `at` if given, and waits until it is ready. Prints its output when it
 * does not become ready.
 */
export async function startServer(
  flags: readonly string[],
  command: readonly string[] = PROGRAM,
  at?: number,
): Promise<ServerProcess> {
  const port = at ?? (await freePort());
  const data = join(tmpdir(), `svc-test-${crypto.randomUUID()}`);
  const child = Bun.spawn([...command, ...flags, "--port", String(port)], {
    env: { ...process.env, SVC_DATA_DIR: data },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const removeData = () => rmSync(data, { recursive: true, force: true });
  const ended = killAtExit(child);
  process.on("exit", removeData);
  void child.exited.then(() => {
    ended();
    process.off("exit", removeData);
    removeData();
  });
  let written = "";
  const output = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) written += text;
    return written;
  })();
  const scheme = flags.includes("--tls-cert") ? "https" : "http";
  const server = new SpawnedServer(scheme, port, child.pid, () => child.exitCode !== null || child.signalCode !== null);
  const untilLogged = (words: string) => until(() => written.includes(words));
  const kill = async () => {
    child.kill("SIGKILL");
    return output;
  };
  const stop = async () => {
    child.kill("SIGTERM");
    const status = await child.exited;
    if (status !== 0) throw new Error(`the server ended with ${status}`);
  };
  try {
    await server.untilReady();
  } catch (error) {
    console.error(`--- ${[...command, ...flags].join(" ")} wrote:\n${(await kill()).slice(-8000)}---`);
    throw error;
  }
  return Object.assign(server, { stop, untilLogged, kill });
}

/**
 * Runs `test` against a server started with these flags and stops the server afterwards. When anything throws, the
 * server's output is printed first. Also throws when the server does not end cleanly.
 */
export async function withServer(
  flags: readonly string[],
  test: (server: TestServer) => Promise<void>,
  command: readonly string[] = PROGRAM,
): Promise<void> {
  const server = await startServer(flags, command);
  try {
    await test(server);
    await server.stop();
  } catch (error) {
    console.error(`--- ${[...command, ...flags].join(" ")} wrote:\n${(await server.kill()).slice(-8000)}---`);
    throw error;
  }
}

/** The certificate was made for the test, so it is not verified. */
const UNCHECKED = { tls: { rejectUnauthorized: false } };

class SpawnedServer implements TestServer {
  readonly url: string;

  constructor(
    scheme: "http" | "https",
    readonly port: number,
    readonly pid: number,
    private readonly hasEnded: () => boolean,
  ) {
    this.url = `${scheme}://127.0.0.1:${port}`;
  }

  enginePid(): number {
    const [engine, ...others] = childrenOf(this.pid);
    if (engine === undefined || others.length > 0)
      throw new Error(`${others.length} engine processes too many or none`);
    return engine;
  }

  async health(): Promise<Health> {
    return (await (await fetch(`${this.url}/health`, UNCHECKED)).json()) as Health;
  }

  async levels(): Promise<Levels> {
    return readLevels(await this.metrics());
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.url}/metrics`, UNCHECKED)).text();
  }

  post(path: string, body: object | string, options?: PostOptions): Promise<Response> {
    return post(this.url + path, body, options);
  }

  async untilIdle(timeoutMs: number): Promise<number> {
    const started = performance.now();
    for (;;) {
      const levels = await this.levels();
      const elapsed = performance.now() - started;
      if (isIdle(levels)) return elapsed;
      if (elapsed > timeoutMs) throw new Error(`still busy after ${timeoutMs} ms: ${JSON.stringify(levels)}`);
      await Bun.sleep(20);
    }
  }

  async untilReady(): Promise<void> {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      if (this.hasEnded()) throw new Error("the server ended");
      const health = await this.health().catch(() => undefined); // not listening yet
      // A server with API keys reports nothing but the status without a key.
      const { status, engine }: Partial<Health> = health ?? {};
      if (engine ? engine.state === "ready" || engine.state === "none" : status === "healthy") return;
      if (performance.now() > deadline) throw new Error(`not ready: ${JSON.stringify(health)}`);
      await Bun.sleep(20);
    }
  }
}
