// Reads power, utilisation and memory bandwidth of the GPUs from NVIDIA's management library, where the machine has it.
// The signatures are those of nvml.h; every function returns 0 on success.

import type { FFIFunction } from "bun:ffi";
import { openSymbols, type Native as Opened } from "../runtime/library.ts";

const handle = "u64";
const i32 = "i32";
const symbols = {
  nvmlInit_v2: { args: [], returns: i32 },
  nvmlDeviceGetCount_v2: { args: ["buffer"], returns: i32 },
  nvmlDeviceGetHandleByIndex_v2: { args: ["u32", "buffer"], returns: i32 },
  nvmlDeviceGetName: { args: [handle, "buffer", "u32"], returns: i32 },
  nvmlDeviceGetPowerUsage: { args: [handle, "buffer"], returns: i32 },
  nvmlDeviceGetUtilizationRates: { args: [handle, "buffer"], returns: i32 },
  nvmlDeviceGetMaxClockInfo: { args: [handle, i32, "buffer"], returns: i32 },
  nvmlDeviceGetMemoryBusWidth: { args: [handle, "buffer"], returns: i32 },
} as const satisfies Record<string, FFIFunction>;

const MEMORY_CLOCK = 2;
const NAME_BYTES = 96;

/** The GPUs that `openGpus` was given; null stands for a value that they do not report. */
export interface Gpus {
  /** Power of all GPUs together, in watts; utilisation of the busiest, 0 to 1. */
  read(): { readonly watts: number | null; readonly share: number | null };
  /** Memory bandwidth of all GPUs together in bytes per second: two transfers per clock, over the width of the bus. */
  readonly peakBandwidth: number | null;
}

/** Opens the GPUs whose name occurs in `names`; undefined where there are none or the library is missing. */
export function openGpus(names: string, library = "libnvidia-ml.so.1"): Gpus | undefined {
  const native = load(library);
  if (!native || native.nvmlInit_v2() !== 0) return undefined;
  const devices = handles(native).filter((device) => names.includes(nameOf(native, device)));
  if (devices.length === 0) return undefined;
  // Two: nvmlUtilization_t has the GPU's first, then the memory's.
  const numbers = new Uint32Array(2);
  const number = (status: number) => (status === 0 ? (numbers[0] as number) : null);
  const all = (read: (device: bigint) => number | null) => {
    const values = devices.map(read).filter((value) => value !== null);
    return values.length === devices.length ? values : null;
  };
  const bandwidth = (device: bigint) => {
    const megahertz = number(native.nvmlDeviceGetMaxClockInfo(device, MEMORY_CLOCK, numbers));
    const bits = number(native.nvmlDeviceGetMemoryBusWidth(device, numbers));
    return megahertz === null || bits === null ? null : (2 * megahertz * 1e6 * bits) / 8;
  };
  return {
    read() {
      const milliwatts = all((device) => number(native.nvmlDeviceGetPowerUsage(device, numbers)));
      const percents = all((device) => number(native.nvmlDeviceGetUtilizationRates(device, numbers)));
      return { watts: milliwatts && sum(milliwatts) / 1000, share: percents && Math.max(...percents) / 100 };
    },
    peakBandwidth: sumOrNull(all(bandwidth)),
  };
}

type Native = Opened<typeof symbols>;

function load(library: string): Native | undefined {
  try {
    return openSymbols(library, symbols);
  } catch {
    return undefined;
  }
}

function handles(native: Native): bigint[] {
  const count = new Uint32Array(1);
  if (native.nvmlDeviceGetCount_v2(count) !== 0) return [];
  const device = new BigUint64Array(1);
  return Array.from({ length: count[0] as number }, (_, index) =>
    native.nvmlDeviceGetHandleByIndex_v2(index, device) === 0 ? (device[0] as bigint) : 0n,
  ).filter((found) => found !== 0n);
}

/** Returns a device's name. NUL stands for no name: it occurs in no list of names. */
function nameOf(native: Native, device: bigint): string {
  const text = new Uint8Array(NAME_BYTES);
  if (native.nvmlDeviceGetName(device, text, NAME_BYTES) !== 0) return "\0";
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0))) || "\0";
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const sumOrNull = (values: readonly number[] | null): number | null => values && sum(values);
