// What a server holds of the machine while it has nothing to do, and whether that grows.

import { openFiles, processTree, residentBytes } from "../support/processes.ts";

/** Growth after the first rounds, in which caches and heaps find their size. */
const GROWTH_LIMIT = 1.15;
const SETTLING_ROUNDS = 3;
/** Files that may be open at one moment and not at another: connections that are closing, a file being read. */
const FILES_SLACK = 4;

export interface Footprint {
  /** Bytes resident in the front process and in the engine's. */
  readonly front: number;
  readonly engine: number;
  /** Open files of both, sockets and pipes included. */
  readonly files: number;
}

/** What a server and its engine hold now. */
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

/** What has grown between the rounds in which it settled and the last one; undefined after too few rounds to tell. */
export function growth(rounds: readonly Footprint[]): string[] | undefined {
  const settled = rounds[SETTLING_ROUNDS - 1];
  const last = rounds.at(-1);
  if (!settled || !last || rounds.length === SETTLING_ROUNDS) return undefined;
  const grown = (["front", "engine"] as const)
    .filter((part) => last[part] > settled[part] * GROWTH_LIMIT)
    .map((part) => `${part} process grew from ${megabytes(settled[part])} to ${megabytes(last[part])}`);
  const files = last.files > settled.files + FILES_SLACK;
  return files ? [...grown, `open files grew from ${settled.files} to ${last.files}`] : grown;
}
