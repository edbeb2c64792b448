// A minimal kind of engine, which counts in native code. When run as a program, this file is the engine process.

import { cc } from "bun:ffi";
import { runEngine, tellReading } from "../../../src/engine/process/child.ts";
import type { EngineKind } from "../../../src/engine/process/kind.ts";
import type { JobKey } from "../../../src/engine/process/protocol.ts";

export interface CountingOptions {
  /** Milliseconds that loading takes; when negative, loading fails. */
  readonly loadMs: number;
  /** Makes the process crash while loading. */
  readonly crash?: true;
}

/** A job that counts to `to`, crashes midway, or never ends. */
export interface CountingJob {
  readonly to: number;
  readonly crash?: true;
  readonly hang?: true;
}

export type CountingEvent =
  /** `contents`: hashes of the contents of the job. */
  | { readonly type: "accepted"; readonly contents?: readonly string[] }
  | { readonly type: "counted"; readonly count: number }
  | { readonly type: "done"; readonly count: number; readonly cancelled: boolean };

/** How far one slice counts; cancels are read between slices. */
const SLICE = 100_000;

export const countingKind: EngineKind<CountingOptions, { readonly unit: number }, CountingJob, CountingEvent> = {
  async load({ loadMs, crash }, send) {
    tellReading("/models/abacus");
    if (crash) process.kill(process.pid, "SIGSEGV");
    if (loadMs < 0) throw new Error("no such counter");
    for (const level of ["debug", "info", "warn"] as const) send({ type: "log", level, text: "beads" });
    for (let share = 0; share < 1; share += 0.25) {
      send({ type: "progress", value: share });
      await Bun.sleep(loadMs / 4);
    }
    const { symbols } = cc({
      source: `${import.meta.dir}/counting.c`,
      symbols: {
        count: { args: ["f64", "f64"], returns: "f64" },
        crash: { args: [], returns: "void" },
      },
    });
    const jobs = new Map<JobKey, CountingJob & { count: number }>();
    const end = (key: JobKey, cancelled: boolean) => {
      const { count = 0 } = jobs.get(key) ?? {};
      jobs.delete(key);
      send({ type: "events", outputs: [], finished: [{ key, event: { type: "done", count, cancelled } }] });
    };
    return {
      ready: { unit: 1 },
      loop: {
        submit(key, job, contents) {
          jobs.set(key, { ...job, count: 0 });
          const hashes = contents.length > 0 && { contents: contents.map((content) => Bun.SHA1.hash(content, "hex")) };
          send({ type: "accepted", key, event: { type: "accepted", ...hashes } });
        },
        cancel: (key) => jobs.has(key) && end(key, true),
        async run() {
          for (; ; await Bun.sleep(1))
            for (const [key, job] of jobs) {
              if (job.count === 0) send({ type: "started", keys: [key] });
              if (job.crash) symbols.crash();
              job.count = symbols.count(job.count, job.hang ? Infinity : Math.min(job.count + SLICE, job.to));
              const outputs = [{ key, events: [{ type: "counted", count: job.count } as const] }];
              send({ type: "events", outputs, finished: [] });
              if (job.count === job.to) end(key, false);
            }
        },
      },
    };
  },
};

if (import.meta.main) await runEngine(countingKind);
