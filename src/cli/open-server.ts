// Runs a listening server around the services, for `serve` and for commands that need a server while they run.

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { Config } from "../config/config.ts";
import type { App } from "../http/app.ts";
import { checkAddress, listen, ListenError, type RunningServer } from "../http/server.ts";
import type { TextEngine } from "../engine/text/text-engine.ts";
import type { Logger } from "../telemetry/log.ts";
import { createTraceFile } from "../telemetry/trace-file.ts";
import { exposure } from "./banner.ts";
import { ExitError } from "./exit-codes.ts";
import { givenPaths, holdModels } from "./named-model.ts";
import { loaded, showLoading } from "./load-progress.ts";
import { createGatewayServices, createRuntime, stopEngines, type Runtime, type Services } from "./runtime.ts";
import { uncovered } from "./reachable.ts";
import { isSvc, serverUrl } from "./running-server.ts";
import { progressOutput } from "./terminal.ts";
import { withPulled } from "./with-pulled.ts";
import { findWorkers } from "./workers.ts";

/** Most milliseconds that the rehearsal waits for a small model, which it would delay where there are only two processors. */
const REHEARSAL_MS = availableParallelism() > 2 ? 0 : 200;

interface OpenServer {
  readonly services: Services;
  /** The same services with those of a model of this machine; absent for upstreams alone. */
  readonly runtime?: Runtime;
  readonly server: RunningServer;
  readonly batches: App["batches"];
}

/**
 * Starts to load the configured model, if any, and to serve HTTP. `log` takes the place of the configured one.
 * `beforeDownload` is called before models are downloaded, when the address is known to be free. Throws as `createRuntime`
 * and `withPulled` do, and ExitError when the configuration exposes too much or the address cannot be listened on.
 */
export async function openServer(config: Config, log?: Logger, beforeDownload = () => {}): Promise<OpenServer> {
  checkExposure(config);
  // What can be refused at once is not refused after a long download.
  const before = async () => {
    const missing = givenPaths(config).find((path) => !existsSync(path));
    if (missing !== undefined) throw new ExitError("model", `There is no file ${missing}.`);
    await orExplain(config, () => checkAddress(config));
    beforeDownload();
  };
  const pulled = <T>(read: () => Promise<T>) => withPulled(config, read, before);
  const runtime = config.serveModel
    ? await pulled(async () => createRuntime(config, log, await findWorkers(config)))
    : undefined;
  const services: Services = runtime ?? (await pulled(() => createGatewayServices(config, log)));
  // The model is loaded while this process loads the HTTP code, unless a trace is written: while the port is not bound, the
  // file may be that of another server.
  const isTraced = config.traceFile !== undefined;
  if (runtime && !isTraced) startEngine(runtime);
  const listening = await startListening(services, runtime?.engine).catch(async (error: unknown) => {
    await closeServices(services);
    throw error;
  });
  if (runtime && isTraced) startEngine(runtime);
  return { services, ...(runtime && { runtime }), ...listening };
}

/** Starts to load the model. The trace, if there is one, begins anew. */
export function startEngine({ engine, config: { traceFile } }: Runtime): void {
  if (traceFile !== undefined) createTraceFile(traceFile);
  engine.start();
}

/** Throws ExitError when --require-auth is set and everybody could call the server, or limits apply to no key. */
function checkExposure(config: Config): void {
  // Other commands may share the config file, but not the environment with the keys.
  if (config.apiKeys.length === 0 && (config.keyRpm > 0 || config.keyConcurrent > 0)) {
    throw new ExitError("usage", "--key-rpm and --key-concurrent limit API keys: define keys with --api-key-file.");
  }
  if (!config.requireAuth || !exposure(config)) return;
  throw new ExitError(
    "usage",
    `--require-auth: ${config.host} is not a loopback address, so --api-key-file is required.`,
  );
}

/** Logs a warning when everybody can call the server. */
export function warnOfExposure({ config, log }: Services, { port }: RunningServer): void {
  const warning = exposure({ ...config, port });
  if (warning) log.warn(warning);
}

/** Logs a warning when the certificate is for none of the addresses at which this machine reaches the server. */
export function warnOfCertificate({ config, log }: Services, { port }: RunningServer): void {
  const warning = uncovered({ ...config, port });
  if (warning) log.warn(warning);
}

/** Starts to serve HTTP. Throws ExitError when the address cannot be listened on. */
async function startListening(
  services: Services,
  engine: TextEngine | undefined,
): Promise<Pick<OpenServer, "server" | "batches">> {
  const { createApp } = await import("../http/app.ts");
  const app = createApp(services);
  const server = await orExplain(services.config, () => listen(app, services.config, services));
  const { batches } = app;
  batches.start();
  const loading = engine?.ready().catch(() => {});
  void Promise.race([loading, Bun.sleep(REHEARSAL_MS)]).then(() => app.rehearse());
  return { server, batches };
}

/** Returns what `work` returns. Throws ExitError when the address cannot be listened on. */
async function orExplain<T>(config: Config, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    if (error.reason !== "in-use") throw new ExitError("address", error.message);
    const hint = "Choose another port with --port (0: any free port).";
    const url = await svcAt(config);
    const message = url === undefined ? error.message : `svc already runs at ${url}.`;
    throw new ExitError("address", `${message} ${hint}`);
  }
}

/** Returns the URL of the svc that answers where this configuration listens, if one does. */
async function svcAt({ host, port, apiKeys }: Config): Promise<string | undefined> {
  const plain = serverUrl({ host, port, apiKeys });
  for (const url of [plain, plain.replace(/^http:/, "https:")]) if (await isSvc(url)) return url;
  return undefined;
}

/** Starts discovery; resolves when upstreams have listed their models or timed out. */
export async function lookForOthers({ upstreams }: Services, { port }: RunningServer): Promise<void> {
  upstreams.exclude(port);
  await upstreams.start();
}

/** Stops the server, the engines and what is kept while they run, in this order. */
export async function closeServer(services: Services, server: RunningServer): Promise<void> {
  await server.stop();
  await closeServices(services);
}

/** Stops the engines and what is kept while they run, when no server listens any more. */
export async function closeServices(services: Services): Promise<void> {
  services.upstreams.stop();
  await stopEngines(services);
  services.transcriptions.recordings.close();
  services.recognition.documents.close();
  services.images.close();
}

/** Serves while `use` runs, which receives the port, and logs to `log`. Throws as `openServer` does. */
export async function whileServing<T>(config: Config, log: Logger, use: (port: number) => Promise<T>): Promise<T> {
  const { services, runtime, server } = await openServer(config, log);
  const release = await holdModels(config);
  try {
    if (runtime) await loaded(runtime.engine, showLoading(runtime.engine, progressOutput(config)));
    await lookForOthers(services, server);
    warnOfExposure(services, server);
    return await use(server.port);
  } finally {
    await closeServer(services, server);
    release();
  }
}
