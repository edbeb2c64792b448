// The API of this program for its own commands: the same requests that clients send, and nothing listens.

import type { Config } from "../config/config.ts";
import { version } from "../config/version.ts";
import { SvcError } from "../domain/errors.ts";
import { ExitError, exitCodes } from "./exit-codes.ts";
import { createRuntime, stopEngines } from "./runtime.ts";

/** Sends a JSON body; throws ExitError with the answer's message when it is refused. */
export type Ask = (path: string, body: object) => Promise<Response>;

/**
 * Does `work`, which may ask; returns the exit code. Only warnings are logged, unless more was wanted. Paths may name any file
 * that the user may read. `signal`: aborted at an interrupt. Throws ExitError.
 */
export async function withApi(given: Config, work: (ask: Ask, signal: AbortSignal) => Promise<void>): Promise<number> {
  const { tls: _tls, ...plain } = given;
  const logLevel = given.logLevel === "info" ? "warn" : given.logLevel;
  const config: Config = { ...plain, apiKeys: [], mediaRoot: "/", logLevel, idleUnloadMs: 0 };
  const { createApp } = await import("../http/app.ts");
  const runtime = createRuntime(config);
  const app = createApp({ ...runtime, version });
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort());
  const ask: Ask = async (path, body) => {
    const { signal } = interrupt;
    const headers = { host: "localhost", "content-type": "application/json" };
    const request = new Request(`http://localhost${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal,
    });
    const response = await app.fetch(request);
    if (response.ok) return response;
    const { error } = (await response.json()) as { error: { message: string } };
    throw new ExitError("failure", error.message);
  };
  try {
    await work(ask, interrupt.signal);
    return exitCodes.ok.code;
  } catch (error) {
    if (interrupt.signal.aborted) return exitCodes.interrupted.code;
    // An answer that broke off.
    throw error instanceof SvcError ? new ExitError("failure", error.message) : error;
  } finally {
    await stopEngines(runtime);
    runtime.transcriptions.recordings.close();
    runtime.recognition.documents.close();
  }
}
