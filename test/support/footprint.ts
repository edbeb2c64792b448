// The resources of a server, and whether they grow.

import { openFiles, processTree, residentBytes } from "./processes.ts";

/** Garbage fluctuates from round to round, so the lowest level of this many rounds counts. */
const MOST_COMPARED = 3;

export interface Footprint {
  /** Resident bytes of the front process and of the engines. */
  readonly front: number;
  readonly engine: number;
  /** Open files of all, including sockets and pipes. */
  readonly files: number;
}

/** Returns the current resources of a server and of its engines. */
export function footprint(pid: number, engines: readonly number[] = processTree(pid).slice(1)): Footprint {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    front: residentBytes(pid),
    engine: sum(engines.map((engine) => residentBytes(engine))),
    files: sum([pid, ...engines].map(openFiles)),
  };
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

export const describeFootprint = ({ front, engine, files }: Footprint): string =>
  `front ${megabytes(front)}, engine ${megabytes(engine)}, ${files} files`;

export interface GrowthLimits {
  /** How many times the memory of the first rounds the last ones may have. */
  readonly memory: number;
  /** How many more files may be open: connections that are closing, a file being read. */
  readonly files?: number;
  /** The first rounds that do not count, because caches and heaps reach their size. */
  readonly settling?: number;
}

/** Returns what the last rounds use in excess of the first ones; undefined after too few rounds. */
export function growth(rounds: readonly Footprint[], limits: GrowthLimits): string[] | undefined {
  const { memory, files: moreFiles = Infinity, settling = 0 } = limits;
  const settled = rounds.slice(settling);
  const compared = Math.min(MOST_COMPARED, settled.length >> 1);
  if (compared === 0) return undefined;
  const lowest = (of: readonly Footprint[], part: keyof Footprint) => Math.min(...of.map((one) => one[part]));
  const before = (part: keyof Footprint) => lowest(settled.slice(0, compared), part);
  const after = (part: keyof Footprint) => lowest(settled.slice(-compared), part);
  const grown = (["front", "engine"] as const)
    .filter((part) => after(part) > before(part) * memory)
    .map((part) => `${part} process grew from ${megabytes(before(part))} to ${megabytes(after(part))}`);
  // Files are not garbage, so those of the last round count.
  const files = rounds.at(-1)?.files ?? 0;
  const leaks = files > before("files") + moreFiles;
  return leaks ? [...grown, `open files grew from ${before("files")} to ${files}`] : grown;
}
