// `svc`: listens, loads the model, tells what it serves, and stops in order.

import type { Config } from "../config/config.ts";
import { version } from "../config/version.ts";
import type { ModelInfo } from "../domain/model.ts";
import type { RunningServer } from "../http/server.ts";
import { banner, exposure, gatewayBanner } from "./banner.ts";
import { ExitError } from "./exit-codes.ts";
import { showLoading } from "./load-progress.ts";
import { ReadyFile } from "./ready-file.ts";
import { reloadOnHangup } from "./reload.ts";
import { createGatewayServices, createRuntime, stopEngines, type Runtime, type Services } from "./runtime.ts";

/** Serves until SIGINT or SIGTERM; returns the exit code. `reread` reads the configuration again. Throws ExitError when it cannot start. */
export async function serve(config: Config, reread: () => Config): Promise<number> {
  if (config.requireAuth && exposure(config)) {
    throw new ExitError("usage", `--require-auth: ${config.host} is not this machine alone and needs --api-key-file.`);
  }
  return config.serveModel ? serveModel(config, reread) : serveOthers(config, reread);
}

async function serveModel(config: Config, reread: () => Config): Promise<number> {
  const readyFile = new ReadyFile(config.readyFile);
  const runtime = createRuntime(config);
  const { engine } = runtime;
  // The engine process starts up while this one loads its HTTP half. The port is bound long before the model is
  // there: a busy one is known at once, and early requests wait instead of being refused.
  engine.start();
  const server = await startListening(runtime).catch(async (error: unknown) => {
    await engine.stop();
    throw error;
  });
  const stopped = stopOnSignal(runtime, server, readyFile, reread);
  const looked = lookForOthers(runtime, server);
  const progress = config.logFormat === "text" ? showLoading(engine, process.stderr) : undefined;
  try {
    const model = await Promise.race([engine.ready(), stopped]);
    progress?.end();
    if (typeof model === "number") return model;
    await Promise.race([looked, stopped]);
    readyFile.write(server.url);
    announce(runtime, model, server);
  } catch (error) {
    progress?.end();
    await server.stop();
    await stopEngines(runtime);
    if (error instanceof ExitError) throw error;
    throw new ExitError("model", error instanceof Error ? error.message : String(error));
  }
  return stopped;
}

/** Serves what other servers have. */
async function serveOthers(config: Config, reread: () => Config): Promise<number> {
  const readyFile = new ReadyFile(config.readyFile);
  const services = createGatewayServices(config);
  const { log } = services;
  const server = await startListening(services);
  const stopped = stopOnSignal(services, server, readyFile, reread);
  await Promise.race([lookForOthers(services, server), stopped]);
  const models = services.router.models().filter(({ remote }) => remote).length;
  readyFile.write(server.url);
  if (config.logFormat === "text") process.stderr.write(gatewayBanner(models, server.url));
  else log.info("ready", { version, url: server.url, models });
  warnOfExposure(services, server);
  return stopped;
}

function warnOfExposure({ config, log }: Services, { port }: RunningServer): void {
  const warning = exposure({ ...config, port });
  if (warning) log.warn(warning);
}

/** Resolves when other servers have told of their models, or had their time to. */
async function lookForOthers({ upstreams }: Services, { port }: RunningServer): Promise<void> {
  upstreams.exclude(port);
  await upstreams.start();
}

async function startListening(runtime: Services): Promise<RunningServer> {
  const { createApp } = await import("../http/app.ts");
  const { listen, ListenError } = await import("../http/server.ts");
  try {
    const app = createApp({ ...runtime, version });
    const server = listen(app, runtime.config, runtime.requests);
    app.batches.start();
    return server;
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    const hint = error.reason === "in-use" ? " Choose another with --port (0 takes a free one)." : "";
    throw new ExitError("address", `${error.message}${hint}`);
  }
}

function announce(runtime: Runtime, model: ModelInfo, server: RunningServer): void {
  const { config, log } = runtime;
  const { url } = server;
  if (config.logFormat === "text") process.stderr.write(banner(runtime, model, url));
  else log.info("ready", { version, url, model: model.id, context: model.context, device: model.device });
  warnOfExposure(runtime, server);
}

/** Resolves with the exit code once everything has ended after a signal; a second signal ends the process at once. */
function stopOnSignal(
  services: Services,
  server: RunningServer,
  readyFile: ReadyFile,
  reread: () => Config,
): Promise<number> {
  const { upstreams, log, requests, config } = services;
  const { promise, resolve } = Promise.withResolvers<number>();
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    readyFile.remove();
    log.info("stopping", { signal, active: requests.activeCount, drain_ms: config.drainTimeoutMs });
    await server.stop();
    upstreams.stop();
    await stopEngines(services);
    services.transcriptions.recordings.close();
    services.recognition.documents.close();
    services.images.close();
    resolve(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(signal));
  reloadOnHangup({ ...services, reread, hangUp: () => void stop("SIGHUP") });
  return promise;
}
