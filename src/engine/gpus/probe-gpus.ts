// Reads the memory of this machine's GPUs in a process of its own: a driver may crash, hang, or keep memory of a process
// that has used it once.

import type { Gpu } from "../../domain/gpu.ts";
import type { Launch } from "../process/supervisor-options.ts";
import { Supervisor } from "../process/supervisor.ts";
import type { GpuOptions, GpuReport } from "./protocol.ts";

/** Milliseconds that a driver may be silent where engines may be for ever: nothing listens before the GPUs are read. */
const PATIENCE_MS = 60_000;
/** Milliseconds for the end of the process. One that hangs in its driver cannot be killed, and is left alone. */
const END_MS = 5000;

/** Returns the GPUs that models are computed on. Rejects with an Error when the libraries or a driver fail or hang. */
export async function probeGpus(libraries: string, launch: Launch): Promise<readonly Gpu[]> {
  const engineTimeoutMs = launch.engineTimeoutMs || PATIENCE_MS;
  const hung = Promise.withResolvers<never>();
  const hangs = () => hung.reject(new Error("the driver of a GPU hangs"));
  const cancel = launch.clock.after(engineTimeoutMs + END_MS, hangs);
  try {
    return await Promise.race([read(libraries, { ...launch, engineTimeoutMs }), hung.promise]);
  } finally {
    cancel();
  }
}

async function read(libraries: string, launch: Launch): Promise<readonly Gpu[]> {
  let report: GpuReport | undefined;
  const supervisor = new Supervisor<GpuOptions, GpuReport, never, never>({
    kind: "gpus",
    model: "",
    load: () => ({ libraries }),
    launch,
    start: "eager",
    idleMs: 0,
    onReady: (ready) => (report = ready),
  });
  try {
    supervisor.start();
    await supervisor.ready();
  } finally {
    await supervisor.stop();
  }
  return report?.gpus ?? [];
}
