// The worker's own process: native code serves other machines, and a crash ends nothing else.

import { openWorker } from "../../../../ffi/llama/worker.ts";
import { untilLoaded } from "../../process/child.ts";
import type { EngineKind } from "../../process/kind.ts";
import { availableMemory } from "../../process/machine.ts";
import { ABORT_FD } from "../../process/protocol.ts";
import type { WorkerOptions, WorkerReady } from "../protocol.ts";

export const workerKind: EngineKind<WorkerOptions, WorkerReady, never, never> = {
  async load({ libraries, ...config }, send) {
    const worker = openWorker(libraries);
    worker.listenForAborts(ABORT_FD);
    const port = worker.start({ ...config, memory: availableMemory() });
    await untilLoaded({ loadPoll: () => ({ state: "ready" }), drainLog: () => worker.drainLog() }, send);
    return {
      ready: { port, devices: worker.devices() },
      loop: { submit() {}, cancel() {}, run: () => new Promise<never>(() => {}) },
    };
  },
};
