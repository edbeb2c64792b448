// Finds out how much memory the GPUs have on which this server computes.

import { hasGpuBackend, type NativeFiles } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import { errorMessage } from "../domain/error-message.ts";
import type { Gpu } from "../domain/gpu.ts";
import { probeGpus } from "../engine/gpus/probe-gpus.ts";
import type { Launch } from "../engine/process/supervisor-options.ts";
import type { Logger } from "../telemetry/log.ts";
import type { PreparedModel } from "./prepare-model.ts";

/**
 * Returns the GPUs for models. Empty, so that RAM alone counts, where none is used or can be read, and on Macs, whose GPUs
 * compute in RAM.
 */
export async function readGpus(
  { gpuLayers }: Config,
  { libraries }: NativeFiles,
  launch: Launch,
): Promise<readonly Gpu[]> {
  if (gpuLayers === 0 || process.platform === "darwin") return [];
  try {
    if (!hasGpuBackend(libraries)) return [];
    return await probeGpus(libraries, launch);
  } catch (error) {
    launch.log.warn("the memory of the GPUs cannot be read: models are fitted into RAM", {
      reason: errorMessage(error),
    });
    return [];
  }
}

/** Logs where the layers of a model go, unless all are where they belong. */
export function logPlacement({ id, placement }: Pick<PreparedModel, "id" | "placement">, log: Logger): void {
  if (!placement) return;
  const { note, warning, context } = placement;
  if (note !== undefined) log.info(note, { model: id });
  // Of a --ctx that is too large there is a warning already.
  if (warning !== undefined && !context.isTight) log.warn(warning, { model: id });
}
