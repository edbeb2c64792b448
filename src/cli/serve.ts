// `svc`: listens, loads the model, reports what is served, and shuts down in order.

import type { Config } from "../config/config.ts";
import { version } from "../config/version.ts";
import { errorMessage } from "../domain/error-message.ts";
import type { ModelInfo } from "../domain/model.ts";
import type { RunningServer } from "../http/server.ts";
import { banner, gatewayBanner, type BannerOptions } from "./banner.ts";
import { ExitError } from "./exit-codes.ts";
import { LiveLine } from "./live-line.ts";
import { showLoading } from "./load-progress.ts";
import {
  checkExposure,
  closeServer,
  closeServices,
  lookForOthers,
  startListening,
  warnOfExposure,
} from "./open-server.ts";
import { reachable } from "./reachable.ts";
import { ReadyFile } from "./ready-file.ts";
import { reloadOnHangup } from "./reload.ts";
import { createGatewayServices, createRuntime, type Runtime, type Services } from "./runtime.ts";
import { findWorkers } from "./workers.ts";
import { hasColours, isQuiet, isTerminal, progressOutput } from "./terminal.ts";

/**
 * Serves until SIGINT or SIGTERM and returns the exit code. `reread` reads the configuration again. Throws ExitError
 * when the server cannot start.
 */
export async function serve(config: Config, reread: () => Config): Promise<number> {
  checkExposure(config);
  return config.serveModel ? serveModel(config, reread) : serveOthers(config, reread);
}

async function serveModel(config: Config, reread: () => Config): Promise<number> {
  const readyFile = new ReadyFile(config.readyFile);
  const runtime = createRuntime(config, undefined, await findWorkers(config));
  const { engine } = runtime;
  // The engine process starts while this process loads the HTTP code. The port is bound long before the model is
  // loaded: a port in use is reported at once, and early requests wait instead of being refused.
  engine.start();
  const server = await startListening(runtime).catch(async (error: unknown) => {
    await closeServices(runtime);
    throw error;
  });
  readyFile.remove();
  const stopped = stopOnSignal(runtime, server, readyFile, reread);
  const looked = lookForOthers(runtime, server);
  const progress = config.logFormat === "text" ? showLoading(engine, progressOutput(config)) : undefined;
  try {
    const model = await Promise.race([engine.ready(), stopped]);
    progress?.end();
    if (typeof model === "number") return model;
    await Promise.race([looked, stopped]);
    readyFile.write(server.url);
    announce(runtime, model, server);
  } catch (error) {
    progress?.end();
    await closeServer(runtime, server);
    if (error instanceof ExitError) throw error;
    throw new ExitError("model", errorMessage(error));
  }
  return stopped;
}

/** Serves the models of upstreams alone. */
async function serveOthers(config: Config, reread: () => Config): Promise<number> {
  const readyFile = new ReadyFile(config.readyFile);
  const services = createGatewayServices(config);
  const { log } = services;
  const server = await startListening(services);
  readyFile.remove();
  const stopped = stopOnSignal(services, server, readyFile, reread);
  await Promise.race([lookForOthers(services, server), stopped]);
  const models = services.router.models().filter(({ remote }) => remote).length;
  readyFile.write(server.url);
  if (config.logFormat === "json") log.info("ready", { version, url: server.url, models });
  else greet(config, gatewayBanner(models, bannerOptions(config, server)));
  warnOfExposure(services, server);
  watch(services);
  return stopped;
}

function announce(runtime: Runtime, model: ModelInfo, server: RunningServer): void {
  const { config, log } = runtime;
  const { url } = server;
  if (config.logFormat === "text") greet(config, banner(runtime, model, bannerOptions(config, server)));
  else log.info("ready", { version, url, model: model.id, context: model.context, device: model.device });
  warnOfExposure(runtime, server);
  watch(runtime);
}

const bannerOptions = (config: Config, { port }: RunningServer): BannerOptions => ({
  addresses: reachable({ ...config, port }),
  colours: hasColours(),
});

function greet(config: Config, text: string): void {
  if (!isQuiet(config)) process.stderr.write(text);
}

/** Shows the current work below the log, on a terminal. */
function watch({ config, requests }: Services): void {
  if (config.logFormat === "json" || isQuiet(config) || !isTerminal()) return;
  const line = new LiveLine({ live: () => requests.live(), output: progressOutput(config) });
  process.once("exit", () => line.stop());
  line.start();
}

/** Resolves with the exit code when everything has stopped after a signal; a second signal ends the process at once. */
function stopOnSignal(
  services: Services,
  server: RunningServer,
  readyFile: ReadyFile,
  reread: () => Config,
): Promise<number> {
  const { log, requests, config } = services;
  const { promise, resolve } = Promise.withResolvers<number>();
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    readyFile.remove();
    const { activeCount: active } = requests;
    const hint = active > 0 && signal === "SIGINT" ? "; press Ctrl-C again to stop now" : "";
    log.info(`stopping${config.logFormat === "text" ? hint : ""}`, { signal, active, drain_ms: config.drainTimeoutMs });
    await closeServer(services, server);
    resolve(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(signal));
  reloadOnHangup({ ...services, reread, hangUp: () => void stop("SIGHUP") });
  return promise;
}
