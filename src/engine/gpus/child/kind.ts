// The process that reads the memory of GPUs. It has done its work once it is ready.

import { openDevices, type ComputeDevice } from "../../../../ffi/llama/devices.ts";
import type { Gpu } from "../../../domain/gpu.ts";
import type { EngineKind } from "../../process/kind.ts";
import { ABORT_FD } from "../../process/protocol.ts";
import type { GpuOptions, GpuReport } from "../protocol.ts";

export const gpusKind: EngineKind<GpuOptions, GpuReport, never, never> = {
  async load({ libraries }) {
    const native = openDevices(libraries);
    native.listenForAborts(ABORT_FD);
    return {
      ready: { gpus: usedGpus(native.devices()) },
      loop: { submit() {}, cancel() {}, run: () => new Promise<never>(() => {}) },
    };
  },
};

/** Returns the devices on which llama.cpp computes: integrated GPUs only where there are no others. */
export function usedGpus(devices: readonly ComputeDevice[]): Gpu[] {
  const of = (wanted: ComputeDevice["type"]) => devices.filter(({ type }) => type === wanted);
  const used = of("gpu").length > 0 ? of("gpu") : of("integrated");
  return used.map(({ type, free, total }) => ({ free, total, isShared: type === "integrated" }));
}
