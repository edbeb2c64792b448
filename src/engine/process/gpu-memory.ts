// The GPUs of this machine, as they were when they were last read.

import { usableBytes, type Gpu } from "../../domain/gpu.ts";

export class GpuMemory {
  /** Empty before the first reading, and where models compute on the CPU alone. */
  list: readonly Gpu[] = [];

  /** `probe`: reads the GPUs; it does not reject. */
  constructor(private readonly probe: () => Promise<readonly Gpu[]> = async () => []) {}

  /** Returns the bytes that models may take. */
  get free(): number {
    return usableBytes(this.list);
  }

  /** Reads the GPUs again, which takes up to a second. */
  async read(): Promise<void> {
    this.list = await this.probe();
  }
}
