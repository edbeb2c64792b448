// The resources of an idle server, and whether they grow.

import { openFiles, processTree, residentBytes } from "../support/processes.ts";

/** Allowed growth after the first rounds, in which caches and heaps reach their size. */
const GROWTH_LIMIT = 1.15;
const SETTLING_ROUNDS = 2;
/** Garbage fluctuates from round to round, so the lowest level of this many rounds counts. */
const MOST_COMPARED = 3;
/** Files that may be open at some moments: connections that are closing, a file being read. */
const FILES_SLACK = 4;

export interface Footprint {
  /** Resident bytes of the front process and of the engine. */
  readonly front: number;
  readonly engine: number;
  /** Open files of both, including sockets and pipes. */
  readonly files: number;
}

/** Returns the current resources of a server and its engine. */
export function footprint(pid: number): Footprint {
  const pids = processTree(pid);
  const [front = 0, ...engines] = pids.map((one) => residentBytes(one));
  return {
    front,
    engine: engines.reduce((sum, bytes) => sum + bytes, 0),
    files: pids.reduce((sum, one) => sum + openFiles(one), 0),
  };
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

export const describeFootprint = ({ front, engine, files }: Footprint): string =>
  `front ${megabytes(front)}, engine ${megabytes(engine)}, ${files} files`;

/** Returns what the last rounds use in excess of those after settling; undefined after too few rounds. */
export function growth(rounds: readonly Footprint[]): string[] | undefined {
  const settled = rounds.slice(SETTLING_ROUNDS);
  const compared = Math.min(MOST_COMPARED, settled.length >> 1);
  if (compared === 0) return undefined;
  const lowest = (of: readonly Footprint[], part: keyof Footprint) => Math.min(...of.map((one) => one[part]));
  const before = (part: keyof Footprint) => lowest(settled.slice(0, compared), part);
  const after = (part: keyof Footprint) => lowest(settled.slice(-compared), part);
  const grown = (["front", "engine"] as const)
    .filter((part) => after(part) > before(part) * GROWTH_LIMIT)
    .map((part) => `${part} process grew from ${megabytes(before(part))} to ${megabytes(after(part))}`);
  // Files are not garbage, so those of the last round count.
  const files = rounds.at(-1)?.files ?? 0;
  const leaks = files > before("files") + FILES_SLACK;
  return leaks ? [...grown, `open files grew from ${before("files")} to ${files}`] : grown;
}
