// Engines that count in native code, under supervisors, for tests of the features that all kinds of engines share.

import { join } from "node:path";
import { systemClock, type Timers } from "../../../src/domain/clock.ts";
import { LazyEngine, type KnownModel } from "../../../src/engine/process/lazy-engine.ts";
import type { MemoryBudget } from "../../../src/engine/process/memory-budget.ts";
import { Supervisor } from "../../../src/engine/process/supervisor.ts";
import type { SupervisorOptions } from "../../../src/engine/process/supervisor-options.ts";
import type { LogFields, Logger } from "../../../src/telemetry/log.ts";
import { testLaunch } from "../../support/launch.ts";
import type { CountingEvent, CountingJob, CountingOptions } from "./counting-kind.ts";

interface Ready {
  readonly unit: number;
}

export type Counter = Supervisor<CountingOptions, Ready, CountingJob, CountingEvent>;
type Runner = Pick<Counter, "run">;
type Options = SupervisorOptions<CountingOptions, Ready, CountingEvent, never>;
type Policy = Partial<Options>;

export const PROGRAM = join(import.meta.dir, "counting-kind.ts");
export const ENDLESS: CountingJob = { to: Number.MAX_SAFE_INTEGER };
/** The errors logged for operators. */
export const errors: { message: string; fields: LogFields | undefined }[] = [];
/** Log lines of lower levels, except `debug` and `verbose`. */
export const notes: string[] = [];
/** The decisions logged at level `verbose`. */
export const decisions: string[] = [];
const log: Logger = {
  debug() {},
  verbose: (message, { reason } = {}) => void decisions.push(`${message}: ${String(reason)}`),
  info: (message) => void notes.push(`info ${message}`),
  warn: (message) => void notes.push(`warn ${message}`),
  error: (message, fields) => void errors.push({ message, fields }),
};
const counters: { stop(): Promise<void> }[] = [];

/** Stops all counters; call it after each test. */
export async function stopCounters(): Promise<void> {
  await Promise.all(counters.splice(0).map((counter) => counter.stop()));
  errors.length = notes.length = decisions.length = 0;
}

interface Setting extends Policy {
  readonly loadMs?: number;
  readonly crash?: true;
  readonly loadTimeoutMs?: number;
  readonly engineTimeoutMs?: number;
  readonly clock?: Timers;
  readonly command?: readonly string[];
  readonly memory?: MemoryBudget;
}

const COMMAND = [process.execPath, PROGRAM];

export function start(setting: Setting = {}): Counter {
  const counter: Counter = new Supervisor(optionsOf(setting));
  counters.push(counter);
  if (setting.start === "eager") counter.start();
  return counter;
}

class CountingEngine extends LazyEngine<CountingOptions, KnownModel, Ready, CountingJob, CountingEvent> {
  run(job: CountingJob, signal: AbortSignal) {
    return this.runJob(job, signal);
  }
}

export function startEngine(processes: number, setting: Setting = {}): CountingEngine {
  const { kind, model, load, ...options } = optionsOf(setting);
  const known = { id: model, created: 0 };
  const engine = new CountingEngine(kind, { ...options, engine: load(), model: known, processes });
  counters.push(engine);
  return engine;
}

function optionsOf(setting: Setting): Options {
  const { loadMs = 0, crash, loadTimeoutMs = 20_000, engineTimeoutMs = 0, ...others } = setting;
  const { clock = systemClock, command = COMMAND, memory, ...policy } = others;
  return {
    kind: "counting",
    model: "abacus",
    load: () => ({ loadMs, ...(crash && { crash }) }),
    launch: testLaunch({
      command: () => command,
      env: { ...process.env } as Record<string, string>,
      loadTimeoutMs,
      engineTimeoutMs,
      log,
      clock,
      ...(memory && { memory }),
    }),
    start: "lazy",
    idleMs: 0,
    ...policy,
  };
}

export const live = () => new AbortController().signal;

export async function count(counter: Runner, job: CountingJob, signal = live(), id = "") {
  return Array.fromAsync(counter.run(job, signal, id));
}

/** Starts a job and resolves while it is being computed. */
export async function running(counter: Runner, job = ENDLESS, signal = live(), id = "") {
  const events = counter.run(job, signal, id);
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error("it ended");
    if (value.type === "counted") return events;
  }
}
