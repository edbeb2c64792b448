// Lists the devices of ggml, with which the shim is linked.

import { join } from "node:path";
import type { FFIFunction } from "bun:ffi";
import { openSymbols, type Native } from "../runtime/library.ts";
import { fileName } from "../runtime/native-files.ts";
import { LlamaLibrary } from "./library.ts";

/** From ggml-backend.h; a device is a pointer, and size_t has 64 bits. */
const symbols = {
  ggml_backend_dev_count: { args: [], returns: "u64" },
  ggml_backend_dev_get: { args: ["u64"], returns: "u64" },
  ggml_backend_dev_type: { args: ["u64"], returns: "i32" },
  ggml_backend_dev_memory: { args: ["u64", "buffer", "buffer"], returns: "void" },
} as const satisfies Record<string, FFIFunction>;

/** The names of `ggml_backend_dev_type`. `integrated`: a GPU that computes in the machine's RAM. */
const TYPES = ["cpu", "gpu", "integrated", "accelerator", "meta"] as const;

export interface ComputeDevice {
  readonly type: (typeof TYPES)[number];
  /** In bytes, as is `total`; both are 0 where the driver does not tell. */
  readonly free: number;
  readonly total: number;
}

/** Loads the library set in `directory` and its compute backends. Throws LlamaError. */
export const openDevices = (directory: string): NativeDevices => new NativeDevices(directory);

class NativeDevices extends LlamaLibrary<never> {
  private readonly ggml: Native<typeof symbols>;

  constructor(directory: string) {
    super(directory);
    this.ggml = openSymbols(join(directory, fileName("llama")), symbols);
  }

  /** Returns all devices of this machine, in the order in which llama.cpp numbers them. */
  devices(): readonly ComputeDevice[] {
    return Array.from({ length: Number(this.ggml.ggml_backend_dev_count()) }, (_, index) => {
      const device = this.ggml.ggml_backend_dev_get(index);
      const [free, total] = [new BigUint64Array(1), new BigUint64Array(1)];
      this.ggml.ggml_backend_dev_memory(device, free, total);
      const type = TYPES[this.ggml.ggml_backend_dev_type(device)] ?? "accelerator";
      return { type, free: Number(free[0]), total: Number(total[0]) };
    });
  }
}
