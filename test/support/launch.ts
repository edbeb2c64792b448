// How tests start engine processes.

import { join } from "node:path";
import { systemClock } from "../../src/domain/clock.ts";
import { MemoryBudget } from "../../src/engine/process/memory-budget.ts";
import type { Launch } from "../../src/engine/process/supervisor-options.ts";
import { BINARY } from "./binary.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** Engines from source, that say nothing and are not watched, with memory for all. */
export const testLaunch = (own: Partial<Launch> = {}): Launch => ({
  command: (kind) => [process.execPath, MAIN, "__engine", kind],
  env: { PATH: "/usr/bin:/bin" },
  loadTimeoutMs: 60_000,
  engineTimeoutMs: 0,
  log: { debug() {}, verbose() {}, info() {}, warn() {}, error() {} },
  clock: systemClock,
  memory: new MemoryBudget(() => Infinity),
  // A test's clock is faster than any processor.
  ...(own.clock !== undefined && own.clock !== systemClock && { processorMs: () => undefined }),
  ...own,
});

/** The compiled binary's engines, in an empty environment; what goes wrong there is printed. */
export const compiledLaunch = (): Launch =>
  testLaunch({
    command: (kind) => [BINARY, "__engine", kind],
    env: {},
    log: { debug() {}, verbose() {}, info() {}, warn() {}, error: (message) => console.error(message) },
  });
