// Spreads the served model over workers: finds them when it is loaded, and reloads it when one is lost.

import { memorySize } from "../domain/gib.ts";
import type { Config } from "../config/config.ts";
import { SvcError } from "../domain/errors.ts";
import type { WorkerAddress } from "../domain/worker.ts";
import { availableMemory } from "../engine/process/machine.ts";
import type { TextEngineOptions } from "../engine/text/text-engine.ts";
import type { EngineOptions, ModelSpread } from "../engine/text/protocol.ts";
import { probeWorker, WorkerError, type FoundWorker } from "../engine/worker/probe.ts";
import type { Logger } from "../telemetry/log.ts";
import { ExitError } from "./exit-codes.ts";

/** Milliseconds that a lost worker has to return before the model is loaded without it; pause between two probes. */
const RETURN_MS = 3000;
const PAUSE_MS = 200;

/** Probes the configured workers. Throws ExitError, within seconds, when one cannot be used. */
export async function findWorkers({ workers }: Config): Promise<readonly FoundWorker[]> {
  try {
    return await Promise.all(workers.map((worker) => probeWorker(worker)));
  } catch (error) {
    throw error instanceof WorkerError ? new ExitError("model", error.message) : error;
  }
}

/** Returns how the model is divided over those workers and this machine's GPUs. */
function spreadOver(
  present: readonly FoundWorker[],
  { splitMode, mainGpu, tensorSplit }: Pick<Config, "splitMode" | "mainGpu" | "tensorSplit">,
): ModelSpread {
  const workers = present.map(({ name, endpoint }) => ({ name, endpoint }));
  return { workers, splitMode, mainGpu, tensorSplit };
}

/** Returns the workers' free bytes, plus `hostBytes` of this machine if it keeps layers or has no workers. */
export function roomOn(
  workers: readonly FoundWorker[],
  { gpuLayers }: Pick<Config, "gpuLayers">,
  hostBytes: number,
): number {
  const here = workers.length === 0 || gpuLayers >= 0 ? hostBytes : 0;
  return workers.flatMap(({ free }) => free).reduce((sum, bytes) => sum + bytes, here);
}

interface Place {
  readonly workers: readonly FoundWorker[];
  readonly room: number;
}

/** Chooses where to reload: the remaining workers, or this machine alone if only it has enough free memory. */
function placeFor(needBytes: number, present: readonly FoundWorker[], config: Config): Place {
  const hostBytes = availableMemory();
  const placeOn = (workers: readonly FoundWorker[]) => ({ workers, room: roomOn(workers, config, hostBytes) });
  const [left, here] = [placeOn(present), placeOn([])];
  return left.room >= needBytes || left.room >= here.room ? left : here;
}

interface SpreadModel {
  readonly config: Config;
  readonly options: EngineOptions;
  /** All workers that were found at the start. */
  readonly workers: readonly FoundWorker[];
  /** Bytes of weights and KV cache. */
  readonly needBytes: number;
  readonly log: Logger;
}

/**
 * Returns how the engine is loaded. When its first process has ended, the workers are probed again: without the lost
 * ones, the model is loaded if the others, or this machine alone, have the memory for it; else requests are refused
 * until they return.
 */
export function spreadLoading({
  config,
  options,
  workers,
  needBytes,
  log,
}: SpreadModel): Pick<TextEngineOptions, "load" | "prepare"> {
  let spread = spreadOver(workers, config);
  const load = () => ({ ...options, spread });
  if (workers.length === 0) return { load };
  return {
    load,
    prepare: async (signal) => {
      const looks = config.workers.map((worker) => awaitWorker(worker, signal));
      const results = await Promise.allSettled(looks);
      signal.throwIfAborted();
      const present = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      const reasons = results.flatMap(({ status, reason }: { status: string; reason?: unknown }) =>
        status === "rejected" ? [reason instanceof Error ? reason.message : String(reason)] : [],
      );
      const all = { workers: present, room: Infinity };
      const { workers: left, room } = reasons.length > 0 ? placeFor(needBytes, present, config) : all;
      if (room < needBytes) {
        const least = `${memorySize(needBytes)} are needed; ${memorySize(room)} are free without it`;
        log.error("the model needs a worker that is unreachable", { reason: reasons.join(" "), why: least });
        throw new SvcError("engine_unavailable", "A worker that the model needs cannot be reached.");
      }
      if (reasons.length > 0)
        log.warn("loading the model without an unreachable worker", { reason: reasons.join(" ") });
      spread = spreadLeft(workers, left, config);
    },
  };
}

/** Probes until the worker answers, since it may be restarting. Throws WorkerError, or the signal's reason. */
async function awaitWorker(worker: WorkerAddress, signal: AbortSignal): Promise<FoundWorker> {
  const deadline = performance.now() + RETURN_MS;
  for (;;) {
    try {
      return await probeWorker(worker, signal);
    } catch (error) {
      if (!(error instanceof WorkerError) || performance.now() > deadline) throw error;
      await Bun.sleep(PAUSE_MS);
    }
  }
}

/**
 * Divides the model over the remaining workers: their devices keep their shares, and --main-gpu stays the same device.
 * When no remaining device has a share, free memory decides; when the main GPU is lost, the first device replaces it.
 */
export function spreadLeft(
  all: readonly FoundWorker[],
  present: readonly FoundWorker[],
  config: Pick<Config, "splitMode" | "mainGpu" | "tensorSplit">,
): ModelSpread {
  const names = all.flatMap(({ name, free }) => free.map(() => name));
  // Devices beyond those of the workers are this machine's.
  const isLeft = (device: number) => names[device] === undefined || present.some(({ name }) => name === names[device]);
  const shares = config.tensorSplit.filter((_share, device) => isLeft(device));
  const { mainGpu } = config;
  const before = Array.from({ length: mainGpu }, (_, device) => device).filter(isLeft);
  return spreadOver(present, {
    splitMode: config.splitMode,
    mainGpu: isLeft(mainGpu) ? before.length : 0,
    tensorSplit: shares.some((share) => share > 0) ? shares : [],
  });
}
