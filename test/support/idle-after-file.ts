// bunfig.toml has each file of tests end with this: it fails when what the file leaves behind keeps the process busy. One
// process runs many files, so that would take a core from all others.

import { afterAll } from "bun:test";

const LOOK_MS = 20;
/** What was computed may be compiled or collected for a while. */
const PATIENCE_MS = 10_000;
/** A busy loop has more than that beside ten others on two cores. */
const IDLE_SHARE = 0.1;

afterAll(async () => {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const begun = performance.now();
    const before = process.cpuUsage();
    await Bun.sleep(LOOK_MS);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 < IDLE_SHARE * (performance.now() - begun)) return;
  }
  throw new Error("the process is still busy after the last test of this file, as with a loop that nobody stops");
}, 4 * PATIENCE_MS);
