// `svc`: listens, loads the model, tells what it serves, and stops in order.

import type { Config } from "../config/config.ts";
import { version } from "../config/version.ts";
import { createApp } from "../http/app.ts";
import { listen, ListenError, type RunningServer } from "../http/server.ts";
import { banner, exposure } from "./banner.ts";
import { ExitError } from "./exit-codes.ts";
import { showLoading } from "./load-progress.ts";
import { createRuntime, type Runtime } from "./runtime.ts";

/** Serves until SIGINT or SIGTERM; returns the exit code. Throws ExitError when it cannot start. */
export async function serve(config: Config): Promise<number> {
  const runtime = createRuntime(config);
  const { engine, log } = runtime;
  // Before the model is loaded: a busy port is known at once, and early requests wait instead of being refused.
  const server = startListening(runtime);
  const stopped = stopOnSignal(runtime, server);
  engine.start();
  const text = config.logFormat === "text";
  const progress = text ? showLoading(engine, process.stderr) : undefined;
  try {
    const model = await Promise.race([engine.ready(), stopped]);
    progress?.end();
    if (typeof model === "number") return model;
    if (text) process.stderr.write(banner(runtime, model, server.url));
    else log.info("ready", { url: server.url, model: model.id, context: model.context, device: model.device });
    if (exposure(config)) log.warn(exposure(config));
  } catch (error) {
    progress?.end();
    await server.stop();
    await engine.stop();
    throw new ExitError(
      "model",
      `${runtime.file.path} could not be loaded: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return stopped;
}

function startListening(runtime: Runtime): RunningServer {
  try {
    return listen(createApp({ ...runtime, version }), runtime.config, runtime.generation);
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    const hint = error.reason === "in-use" ? " Choose another with --port (0 takes a free one)." : "";
    throw new ExitError("address", `${error.message}${hint}`);
  }
}

/** Resolves with the exit code once everything has ended after a signal; a second signal ends the process at once. */
function stopOnSignal({ engine, log, generation, config }: Runtime, server: RunningServer): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info("stopping", { signal, active: generation.activeCount, drain_ms: config.drainTimeoutMs });
    await server.stop();
    await engine.stop();
    resolve(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(signal));
  return promise;
}
