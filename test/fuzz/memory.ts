// Whether memory stays level under many requests.

import { processTree, residentBytes } from "../support/processes.ts";

/** Caches and heaps find their size in the first half; garbage comes and goes, so the lower of two levels counts. */
const GROWTH_LIMIT = 1.25;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Resident bytes of the front process and of all engines. */
export interface Level {
  readonly front: number;
  readonly engine: number;
}

/** What a server, of which this is the front process, has resident now. */
export function resident(pid: number): Level {
  const [front = 0, ...engines] = processTree(pid).map((one) => residentBytes(one));
  return { front, engine: engines.reduce((sum, bytes) => sum + bytes, 0) };
}

export const told = ({ front, engine }: Level): string => `front ${megabytes(front)}, engine ${megabytes(engine)}`;

/** Which part has grown from the first two of four levels to the last two, as sentences. */
export function growth(levels: readonly Level[]): string[] {
  return (["front", "engine"] as const).flatMap((part) => {
    const of = levels.map((level) => level[part]);
    const [before, after] = [Math.min(...of.slice(0, 2)), Math.min(...of.slice(2))];
    return after <= before * GROWTH_LIMIT ? [] : [`${part} grew from ${megabytes(before)} to ${megabytes(after)}`];
  });
}
