// Reads the memory of this machine's GPUs in a process of its own: a driver may crash, hang, or keep memory of a process
// that has used it once.

import type { Gpu } from "../../domain/gpu.ts";
import type { Launch } from "../process/supervisor-options.ts";
import { Supervisor } from "../process/supervisor.ts";
import type { GpuOptions, GpuReport } from "./protocol.ts";

/** Milliseconds without an answer after which a driver counts as failed: nothing listens before, whatever engines may take. */
const LIMIT_MS = 20_000;

/** Returns the GPUs that models are computed on. Rejects with an Error when the libraries or a driver fail or hang. */
export async function probeGpus(libraries: string, launch: Launch): Promise<readonly Gpu[]> {
  let report: GpuReport | undefined;
  const supervisor = new Supervisor<GpuOptions, GpuReport, never, never>({
    kind: "gpus",
    model: "",
    load: () => ({ libraries }),
    launch: { ...launch, engineTimeoutMs: LIMIT_MS },
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
