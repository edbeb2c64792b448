// bunfig.toml has each file of tests end with this (without --parallel, the last one): it fails when what a file leaves
// behind keeps the process busy. One process runs many files, so that would take a core from all others.

import { afterAll } from "bun:test";
import { readFileSync } from "node:fs";

const LOOK_MS = 20;
/** What was computed may be compiled or collected for a while. */
const PATIENCE_MS = 10_000;
const IDLE_SHARE = 0.7;
const STATISTICS = "/proc/self/schedstat";

/** Returns for how many milliseconds the thread has computed or waited for a core; without /proc, only the former. */
function wantedMs(): number {
  try {
    const [computed, waited] = readFileSync(STATISTICS, "utf8").split(" ").map(Number) as [number, number];
    return (computed + waited) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

afterAll(async () => {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const begun = performance.now();
    const before = wantedMs();
    await Bun.sleep(LOOK_MS);
    if (wantedMs() - before < IDLE_SHARE * (performance.now() - begun)) return;
  }
  throw new Error("the process is still busy after the last test of this file, as with a loop that nobody stops");
}, 4 * PATIENCE_MS);
