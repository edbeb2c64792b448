// Settings with which tests start engine processes.

import { systemClock } from "../../src/domain/clock.ts";
import { MemoryBudget } from "../../src/engine/process/memory-budget.ts";
import type { Launch } from "../../src/engine/process/supervisor-options.ts";
import { BINARY } from "./binary.ts";
import { PROGRAM } from "./server.ts";

/** Runs engines of the program that tests start, without log output or watchdog, with memory for all of them. */
export const testLaunch = (own: Partial<Launch> = {}): Launch => ({
  command: (kind) => [...PROGRAM, "__engine", kind],
  env: { PATH: "/usr/bin:/bin" },
  loadTimeoutMs: 60_000,
  engineTimeoutMs: 0,
  log: { debug() {}, verbose() {}, info() {}, warn() {}, error() {} },
  clock: systemClock,
  memory: new MemoryBudget(() => Infinity),
  // A test's clock may run faster than processor time, so processor time is not measured.
  ...(own.clock !== undefined && own.clock !== systemClock && { processorMs: () => undefined }),
  ...own,
});

/** Runs the compiled binary's engines in an empty environment and prints their errors. */
export const compiledLaunch = (): Launch =>
  testLaunch({
    command: (kind) => [BINARY, "__engine", kind],
    env: {},
    log: { debug() {}, verbose() {}, info() {}, warn() {}, error: (message) => console.error(message) },
  });
