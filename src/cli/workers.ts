// The workers of the served model: who is there when it is loaded, and what becomes of it when one has gone.

import { gib } from "../domain/gib.ts";
import type { Config } from "../config/config.ts";
import { SvcError } from "../domain/errors.ts";
import type { WorkerAddress } from "../domain/worker.ts";
import { availableMemory } from "../engine/process/memory.ts";
import type { TextEngineOptions } from "../engine/text/text-engine.ts";
import type { EngineOptions, ModelSpread } from "../engine/text/protocol.ts";
import { probeWorker, WorkerError, type FoundWorker } from "../engine/worker/probe.ts";
import type { Logger } from "../telemetry/log.ts";
import { ExitError } from "./exit-codes.ts";

/** Milliseconds that a worker has to come back before the model is loaded without it, and between two looks for it. */
const RETURN_MS = 3000;
const PAUSE_MS = 200;

/** Looks for the workers of the configuration. Throws ExitError, within seconds, about one that cannot be used. */
export async function findWorkers({ workers }: Config): Promise<readonly FoundWorker[]> {
  try {
    return await Promise.all(workers.map((worker) => probeWorker(worker)));
  } catch (error) {
    throw error instanceof WorkerError ? new ExitError("model", error.message) : error;
  }
}

/** How the model is divided over those workers and the GPUs of this machine. */
function spreadOver(
  present: readonly FoundWorker[],
  { splitMode, mainGpu, tensorSplit }: Pick<Config, "splitMode" | "mainGpu" | "tensorSplit">,
): ModelSpread {
  const workers = present.map(({ name, endpoint }) => ({ name, endpoint }));
  return { workers, splitMode, mainGpu, tensorSplit };
}

/** Bytes of those workers, and of this machine as far as it keeps layers: all where there are no workers. `hostBytes`: it has these. */
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

/** What the model is loaded on after a loss: the workers that are left, or this machine alone where only that has room for it. */
function placeFor(needBytes: number, present: readonly FoundWorker[], config: Config): Place {
  const hostBytes = availableMemory();
  const placeOn = (workers: readonly FoundWorker[]) => ({ workers, room: roomOn(workers, config, hostBytes) });
  const [left, here] = [placeOn(present), placeOn([])];
  return left.room >= needBytes || left.room >= here.room ? left : here;
}

interface SpreadModel {
  readonly config: Config;
  readonly options: EngineOptions;
  /** All workers, as they were found at the start. */
  readonly workers: readonly FoundWorker[];
  /** Weights and KV cache. */
  readonly needBytes: number;
  readonly log: Logger;
}

/**
 * How the engine is loaded. After its first process has ended, the workers are looked for again: the model is loaded without
 * those that have gone if the others, or this machine alone, have the memory for it, else requests are refused until
 * they are back.
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
        const least = `${gib(needBytes)} GiB are needed and ${gib(room)} GiB free without it`;
        log.error("model cannot be loaded without a worker", { reason: reasons.join(" "), why: least });
        throw new SvcError("engine_unavailable", "A worker that the model needs cannot be reached.");
      }
      if (reasons.length > 0) log.warn("model is loaded without a worker", { reason: reasons.join(" ") });
      spread = spreadLeft(workers, left, config);
    },
  };
}

/** One whose process has died serves again after a moment. Throws WorkerError, or the signal's reason. */
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
 * The same for those that are still there: their devices keep their shares, and --main-gpu the device that it means. Where none
 * has a share any more, free memory decides; where that device has gone, the first one takes its place.
 */
export function spreadLeft(
  all: readonly FoundWorker[],
  present: readonly FoundWorker[],
  config: Pick<Config, "splitMode" | "mainGpu" | "tensorSplit">,
): ModelSpread {
  const names = all.flatMap(({ name, free }) => free.map(() => name));
  // What no worker has is this machine's.
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
