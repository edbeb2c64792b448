// A worker as the front process sees it: a serving process that is restarted when it dies.

import type { Launch } from "../process/supervisor-options.ts";
import { Supervisor } from "../process/supervisor.ts";
import type { WorkerOptions, WorkerReady } from "./protocol.ts";

export class WorkerServer {
  private readonly supervisor: Supervisor<WorkerOptions, WorkerReady, never, never>;
  private served: WorkerReady | undefined;

  constructor(options: WorkerOptions, launch: Launch) {
    this.supervisor = new Supervisor({
      kind: "worker",
      model: "",
      // The port is kept across restarts, because servers know it.
      load: () => ({ ...options, port: this.served?.port ?? options.port }),
      launch,
      start: "eager",
      idleMs: 0,
      onReady: (ready) => (this.served = ready),
    });
  }

  /** Starts the process and resolves when it serves. Rejects with an Error when it cannot: it is not retried. */
  async start(): Promise<WorkerReady> {
    this.supervisor.start();
    await this.supervisor.ready();
    if (!this.served) throw new Error("a worker that is ready is known");
    return this.served;
  }

  stop(): Promise<void> {
    return this.supervisor.stop();
  }
}
