// `svc worker`: offers this machine's devices to models of other machines.

import { memorySize } from "../domain/gib.ts";
import { isIPv4 } from "node:net";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/host-name.ts";
import { version } from "../config/version.ts";
import { parseNetworks } from "../config/worker-option.ts";
import { errorMessage } from "../domain/error-message.ts";
import { WORKER_PORT } from "../domain/worker.ts";
import { physicalCores } from "../engine/process/machine.ts";
import { CANNOT_LISTEN, type WorkerOptions, type WorkerReady } from "../engine/worker/protocol.ts";
import { WorkerServer } from "../engine/worker/worker-server.ts";
import type { FlagsOf } from "./commands.ts";
import { launchWith, unpack } from "./engines.ts";
import { ExitError, exitCodes } from "./exit-codes.ts";
import { ReadyFile } from "./ready-file.ts";
import { logger } from "./runtime.ts";
import { isQuiet } from "./terminal.ts";

/** Networks that may connect by default: this machine alone. */
const LOOPBACK = ["127.0.0.0/8"];

/** Serves until SIGINT or SIGTERM and returns the exit code. Throws ExitError. */
export async function serveDevices(config: Config, flags: FlagsOf<"worker">): Promise<number> {
  const readyFile = new ReadyFile(config.readyFile);
  const listening = listeningOptions(flags);
  const log = logger(config);
  const { libraries } = unpack(config, log);
  const devices = listOf(flags.device);
  const options: WorkerOptions = { ...listening, libraries, devices, threads: config.threads ?? physicalCores() };
  const worker = new WorkerServer(options, launchWith(config, log));
  const stopped = Promise.withResolvers<number>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.resolve(exitCodes.ok.code));
  try {
    const ready = await Promise.race([worker.start(), stopped.promise]);
    if (typeof ready === "number") return ready;
    const address = `${options.host}:${ready.port}`;
    readyFile.write(address);
    if (config.logFormat === "json") log.info("worker ready", { version, address });
    else if (!isQuiet(config)) process.stderr.write(greeting(address, options, ready));
    if (!isLoopback(options.host)) log.warn(exposed(address, options.allow));
    return await stopped.promise;
  } catch (error) {
    if (error instanceof ExitError) throw error;
    const message = errorMessage(error);
    throw new ExitError(message.includes(CANNOT_LISTEN) ? "address" : "failure", message);
  } finally {
    readyFile.close(log);
    await worker.stop();
  }
}

function listeningOptions({
  host = "127.0.0.1",
  port,
  allow,
}: FlagsOf<"worker">): Pick<WorkerOptions, "host" | "port" | "allow"> {
  const address = host === "localhost" ? "127.0.0.1" : host;
  if (!isIPv4(address)) throw new ExitError("usage", `--host must be an IPv4 address of this machine, not "${host}".`);
  const number = port === undefined ? WORKER_PORT : Number(port);
  if (!Number.isInteger(number) || number < 0 || number > 65_535) {
    throw new ExitError("usage", `--port must be a whole number from 0 to 65535, not "${port}".`);
  }
  if (allow === undefined && !isLoopback(address)) {
    throw new ExitError(
      "usage",
      `${address} can be reached from other machines, and RPC requires no password: name the addresses that may connect with --allow.`,
    );
  }
  return { host: address, port: number, allow: allow === undefined ? LOOPBACK : parseNetworks(listOf(allow)) };
}

const listOf = (text = ""): readonly string[] =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

function greeting(address: string, { allow, threads }: WorkerOptions, { devices }: WorkerReady): string {
  const shown = devices.map(
    ({ name, description, free, total }) =>
      `  device   ${name} (${description}), ${memorySize(free)} of ${memorySize(total)} free${name === "CPU" ? `, ${threads} thread${threads === 1 ? "" : "s"}` : ""}\n`,
  );
  return `svc ${version}\n${shown.join("")}  allowed  ${allow.join(", ")}\n  worker   ${address}: svc --worker ${address} on the other machine\n\n`;
}

/** Warns of what listening beyond loopback means. */
const exposed = (address: string, allow: readonly string[]): string =>
  `listening on ${address} for ${allow.join(", ")}: RPC is neither encrypted nor authenticated; a client that connects from there can read and write the memory of this process and take it over`;
