// `svc`: listens, loads the model, reports what is served, and shuts down in order.

import { mkdtempSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { nearestExisting } from "../config/folders.ts";
import { isLoopback } from "../config/host-name.ts";
import { version } from "../config/version.ts";
import type { ModelInfo } from "../domain/model.ts";
import { fileReason } from "../domain/system-error-code.ts";
import { usableCores } from "../engine/process/machine.ts";
import type { RunningServer } from "../http/server.ts";
import { ownNetworks } from "../media/own-networks.ts";
import type { Logger } from "../telemetry/log.ts";
import { banner, gatewayBanner, type BannerOptions } from "./banner.ts";
import { exitCodes } from "./exit-codes.ts";
import { LiveLine } from "./live-line.ts";
import { loaded, showLoading } from "./load-progress.ts";
import { closeServer, lookForOthers, openServer, warnOfCertificate, warnOfExposure } from "./open-server.ts";
import { holdModels } from "./named-model.ts";
import { reachable } from "./reachable.ts";
import { ReadyFile } from "./ready-file.ts";
import { handleHangup, reload } from "./reload.ts";
import { warnOfRequestLimit } from "./request-limit.ts";
import { routedAddresses } from "./routed-addresses.ts";
import type { Runtime, Services } from "./runtime.ts";
import { hasColours, isQuiet, isTerminal, progressOutput } from "./terminal.ts";

/** Milliseconds between the signals of one cause: `timeout` and terminals signal a process, and then its group. */
const TOGETHER_MS = 250;

/**
 * Serves until SIGINT or SIGTERM and returns the exit code. `reread` reads the configuration again. Throws as
 * `openServer` does.
 */
export async function serve(config: Config, reread: () => Config): Promise<number> {
  const readyFile = new ReadyFile(config.readyFile);
  // Service managers may ask for a reload while a model is downloaded.
  const onHangup = handleHangup();
  // The port is bound long before the model is loaded, and tried before one is downloaded: a port in use is reported at
  // once, and early requests wait instead of being refused.
  const { services, runtime, server, batches } = await openServer(config, undefined, () => readyFile.clear());
  let progress: ReturnType<typeof showLoading> | undefined;
  const release = await holdModels(config);
  try {
    readyFile.clear();
    const { begun, ended, stop } = stopOnSignal(services, server, readyFile);
    onHangup({ reload: () => void reload({ ...services, reread }), hangUp: () => void stop("SIGHUP") });
    // Lines without a model would go to the upstream that lists its models first.
    const looked = lookForOthers(services, server).then(() => batches.takeOver());
    if (runtime && config.logFormat === "text") progress = showLoading(runtime.engine, progressOutput(config));
    const ready = (async () => {
      const model = runtime && (await loaded(runtime.engine, progress));
      await looked;
      return { model };
    })();
    const found = await Promise.race([ready, begun]);
    if (!found) {
      progress?.end();
      return await ended;
    }
    readyFile.write(server.url);
    if (runtime && found.model) await announce(runtime, found.model, server);
    else await announceGateway(services, server);
    warnOfExposure(services, server);
    warnOfCertificate(services, server);
    warnOfDataFolder(config, services.log);
    warnOfRequestLimit(config, services.log);
    watch(services);
    return await ended;
  } catch (error) {
    progress?.end();
    await closeServer(services, server);
    throw error;
  } finally {
    release();
  }
}

async function announce(runtime: Runtime, model: ModelInfo, server: RunningServer): Promise<void> {
  const { config, log } = runtime;
  const { url } = server;
  if (config.logFormat === "text") {
    const options = { ...(await bannerOptions(runtime, server)), cores: usableCores() };
    greet(config, banner(runtime, model, options));
  } else log.info("ready", { version, url, model: model.id, context: model.context, device: model.device });
}

/** Announces a server of the models of upstreams alone. */
async function announceGateway(services: Services, server: RunningServer): Promise<void> {
  const { config, log, router } = services;
  const models = router.models().filter(({ remote }) => remote).length;
  if (config.logFormat === "json") log.info("ready", { version, url: server.url, models });
  else greet(config, gatewayBanner(models, await bannerOptions(services, server)));
}

const bannerOptions = async ({ config, furtherModels }: Services, { port }: RunningServer): Promise<BannerOptions> => ({
  addresses: reachable({ ...config, port }, ownNetworks(), isLoopback(config.host) ? [] : await routedAddresses()),
  furtherModels: furtherModels(),
  offersPulled: config.pulledModels,
  colours: hasColours(),
});

function greet(config: Config, text: string): void {
  if (!isQuiet(config)) process.stderr.write(text);
}

/** Logs a warning when files and batches cannot be stored: nothing is created there before a client stores something. */
function warnOfDataFolder({ dataDir }: Pick<Config, "dataDir">, log: Logger): void {
  try {
    // Whether a folder can be created is only known by creating one: root may write everywhere, also in /proc.
    rmdirSync(mkdtempSync(join(nearestExisting(dataDir), ".svc-")));
  } catch (error) {
    log.warn(`files and batches cannot be stored in ${dataDir} (--data-dir): ${fileReason(error)}`);
  }
}

/** Shows the current work below the log, on a terminal. */
function watch({ config, requests }: Services): void {
  if (config.logFormat === "json" || isQuiet(config) || !isTerminal()) return;
  const line = new LiveLine({ live: () => requests.history.live(), output: progressOutput(config) });
  process.once("exit", () => line.stop());
  line.start();
}

/**
 * Stops the server after a signal; a second one ends the process at once. `begun` resolves when stopping begins, and
 * `ended` with the exit code when everything has stopped. `stop` does what a signal does.
 */
function stopOnSignal(
  services: Services,
  server: RunningServer,
  readyFile: ReadyFile,
): {
  readonly begun: Promise<undefined>;
  readonly ended: Promise<number>;
  readonly stop: (signal: NodeJS.Signals) => Promise<void>;
} {
  const { log, requests, config, clock } = services;
  const begun = Promise.withResolvers<undefined>();
  const ended = Promise.withResolvers<number>();
  let begunAt: number | undefined;
  const stop = async (signal: NodeJS.Signals) => {
    if (begunAt !== undefined) {
      if (signal === "SIGHUP" || clock.now() - begunAt <= TOGETHER_MS) return;
      log.error("stopped at once by a second signal", { signal, active: requests.activeCount });
      process.exit(exitCodes.failure.code);
    }
    begunAt = clock.now();
    begun.resolve(undefined);
    readyFile.close(log);
    const { activeCount: active } = requests;
    const hint = active > 0 && signal === "SIGINT" ? "; press Ctrl-C again to stop now" : "";
    log.info(`stopping${config.logFormat === "text" ? hint : ""}`, { signal, active, drain_ms: config.drainTimeoutMs });
    await closeServer(services, server);
    ended.resolve(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(signal));
  return { begun: begun.promise, ended: ended.promise, stop };
}
