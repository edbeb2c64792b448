// How much of a processor another process has had.

import { readFileSync } from "node:fs";

/** As Linux counts it everywhere: a hundredth of a second. */
const TICK_MS = 10;

/** Milliseconds that all threads of a process have computed; undefined where the system does not say: only Linux has it. */
export function processorTime(pid: number): number | undefined {
  try {
    // The name of the program, which may hold anything, ends with the last bracket.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}
