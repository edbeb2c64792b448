// Gives commands the HTTP API inside this process: they send the same requests as clients, without a listener.

import type { Config } from "../config/config.ts";
import type { App } from "../http/app.ts";
import type { RequestHistory } from "../service/request-history.ts";
import { ExitError, exitCodes } from "./exit-codes.ts";
import { loaded, showLoading } from "./load-progress.ts";
import { closeServices, startEngine } from "./open-server.ts";
import { createGatewayServices, createRuntime, givenFiles, type GivenFiles } from "./runtime.ts";
import { isTerminal, progressOutput } from "./terminal.ts";
import { withPulled } from "./with-pulled.ts";
import { findWorkers } from "./workers.ts";

export interface Asked {
  /** The request's id. */
  readonly id?: string;
  /** What sets fields of the body on the command line, by field: `{ voice: "--voice" }`. */
  readonly options?: Readonly<Record<string, string>>;
}

export interface Api {
  /**
   * Sends a JSON body, or a GET request without one. Throws ExitError with the error message of the response; when an
   * option's value is refused, the message names that option.
   */
  readonly ask: (path: string, body?: object, asked?: Asked) => Promise<Response>;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** Reports the progress of requests. */
  readonly requests: Pick<RequestHistory, "live" | "progressOf">;
}

/** Characters of an option's value that an error repeats at most. */
const LONGEST_TOLD = 40;

/** Load timeout in milliseconds: long, since the user sees the progress and can interrupt. */
const PATIENCE_MS = 86_400_000;

/**
 * Runs `work` with the API and returns the exit code. `uses`: the models that `work` uses; the files of others may be
 * missing. `model`: that of --model, which is loaded from the start, with progress shown on a terminal. Only warnings are
 * logged, unless another level is configured. Paths may name any file that the user can read. Throws ExitError,
 * ModelFileError, or the SvcError of a response that failed after it had begun.
 */
export async function withApi(
  given: Config,
  uses: "model" | keyof GivenFiles,
  work: (api: Api) => Promise<void>,
): Promise<number> {
  // Others read no text in images: the data of these languages may be missing.
  const config = { ...alone(given), ...(uses !== "ppocr" && { ocrLanguages: [] }) };
  const { runtime, services } = await withPulled(given, async () => {
    const files = givenFiles(config, uses === "model" ? [] : [uses]);
    const runtime =
      uses === "model" ? await createRuntime(config, undefined, await findWorkers(given), files) : undefined;
    return { runtime, services: runtime ?? (await createGatewayServices(config, undefined, files)) };
  });
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort());
  const showsBar = isTerminal() && given.logFormat === "text";
  const progress = runtime && showsBar ? showLoading(runtime.engine, progressOutput(given)) : undefined;
  try {
    // The model is loaded while this process loads the HTTP code; the first request waits for it.
    if (runtime) startEngine(runtime);
    const { createApp } = await import("../http/app.ts");
    const { signal } = interrupt;
    const api: Api = { ask: asking(createApp(services), signal), signal, requests: services.requests.history };
    await Promise.all([runtime && loaded(runtime.engine, progress), work(api)]);
    return exitCodes.ok.code;
  } catch (error) {
    if (interrupt.signal.aborted) return exitCodes.interrupted.code;
    throw error;
  } finally {
    progress?.end();
    await closeServices(services);
  }
}

/** Adapts the configuration to a process with this command as its only client. */
const alone = ({ tls: _tls, ...given }: Config): Config => ({
  ...given,
  apiKeys: [],
  pulledModels: false,
  mediaRoot: "/",
  logLevel: given.logLevel === "info" ? "warn" : given.logLevel,
  idleUnloadMs: 0,
  loadTimeoutMs: PATIENCE_MS,
});

const asking =
  (app: Pick<App, "fetch">, signal: AbortSignal): Api["ask"] =>
  async (path, body, { id, options = {} } = {}) => {
    const named = id === undefined ? {} : { "x-request-id": id };
    const headers = { host: "localhost", "content-type": "application/json", ...named };
    const sent = body ? { method: "POST", body: JSON.stringify(body) } : {};
    const response = await app.fetch(new Request(`http://localhost${path}`, { ...sent, headers, signal }));
    if (response.ok) return response;
    const { error } = (await response.json()) as { error: { message: string; param: string | null } };
    throw refusal(response.status, error, options, body);
  };

function refusal(
  status: number,
  { message, param }: { readonly message: string; readonly param: string | null },
  options: Readonly<Record<string, string>>,
  body: object = {},
): ExitError {
  // 404: a name that does not exist is a wrong value, too.
  const isAboutValue = status === 400 || status === 404;
  const option = isAboutValue && param !== null ? options[param] : undefined;
  if (option === undefined) return new ExitError("failure", message);
  const named = message.replace(`'${param}'`, option);
  // The API never repeats a request's text, but here it is what the user has just typed.
  const typed: unknown = (body as Record<string, unknown>)[param ?? ""];
  const told = typeof typed === "string" && typed.length <= LONGEST_TOLD;
  return new ExitError("usage", told ? named.replace(/got a string of length \d+/, () => `got "${typed}"`) : named);
}
