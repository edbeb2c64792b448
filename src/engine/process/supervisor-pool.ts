// Several processes of one engine, for work that occupies a whole process. Each starts when those before it are busy.

import type { ProcessState, ProcessStatus } from "../../domain/process-status.ts";
import type { Started } from "./jobs.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";
import { Supervisor } from "./supervisor.ts";

/** The state that the pool reports is the first of these that any process has. */
const STATES: readonly ProcessState[] = [
  "ready",
  "loading",
  "starting",
  "unloaded",
  "stalled",
  "failed",
  "draining",
  "stopped",
  "none",
];

export class SupervisorPool<Options, Ready, Job, Event extends {}> {
  private readonly supervisors: readonly Supervisor<Options, Ready, Job, Event>[];

  /** `count`: at least 1. */
  constructor(count: number, options: SupervisorOptions<Options, Ready, Event, never>) {
    // Only the first process claims memory, and jobs are refused when it gets none. A refusal for another process would
    // fail jobs that the first could do.
    const others = { ...options, needBytes: 0 };
    this.supervisors = Array.from({ length: count }, (_, at) => new Supervisor(at === 0 ? options : others));
  }

  /** Returns the status of the whole pool: the best state, the errors, failed loads and stalls of any process, and sums. */
  status(): ProcessStatus {
    const all = this.supervisors.map((one) => one.status()).toSorted(byState);
    const [best] = all;
    if (!best) throw new Error("a pool without processes");
    const lastError = all.find((one) => one.lastError !== undefined)?.lastError;
    const loadFails = all.some((one) => one.loadFails);
    const stalledSince = all.find((one) => one.stalledSince !== undefined)?.stalledSince;
    const sum = (of: (one: ProcessStatus) => number) => all.reduce((total, one) => total + of(one), 0);
    return {
      ...best,
      ...(lastError !== undefined && { lastError }),
      ...(loadFails && { loadFails }),
      ...(stalledSince !== undefined && { stalledSince }),
      restarts: sum(({ restarts }) => restarts),
      running: sum(({ running }) => running),
      waiting: sum(({ waiting }) => waiting),
      residentBytes: sum(({ residentBytes }) => residentBytes),
    };
  }

  /** Runs a job as a supervisor does, in the process with the least work. */
  run(job: Job, signal: AbortSignal): AsyncGenerator<Event | Started, void, void> {
    const [chosen] = this.supervisors
      .map((supervisor) => ({ supervisor, status: supervisor.status() }))
      .toSorted((a, b) => Number(isOut(a.status)) - Number(isOut(b.status)) || work(a.status) - work(b.status));
    if (!chosen) throw new Error("a pool without processes");
    return chosen.supervisor.run(job, signal);
  }

  /** Keeps every process from being idle until the returned function is called. */
  keep(): () => void {
    const releases = this.supervisors.map((one) => one.keep());
    return () => releases.forEach((release) => release());
  }

  /** Unloads the processes that are idle; resolves with whether none is left. */
  async unloadIdle(): Promise<boolean> {
    const unloaded = await Promise.all(this.supervisors.map((one) => one.unloadIdle()));
    return unloaded.every((isUnloaded) => isUnloaded);
  }

  /** Unloads each process once it has no jobs, and after every later job. */
  retire(): void {
    for (const one of this.supervisors) one.retire();
  }

  /** Ends all processes; resolves when they are gone. */
  async stop(): Promise<void> {
    await Promise.all(this.supervisors.map((one) => one.stop()));
  }
}

const byState = (a: ProcessStatus, b: ProcessStatus) => STATES.indexOf(a.state) - STATES.indexOf(b.state);
const isOut = ({ state }: ProcessStatus) => state === "stalled" || state === "failed";
const work = ({ running, waiting }: ProcessStatus) => running + waiting;
