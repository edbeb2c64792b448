// Whether memory stays level under many requests.

import { processTree, residentBytes } from "../support/processes.ts";

/** Caches and heaps reach their size in the first half; garbage fluctuates, so the lower of two levels counts. */
const GROWTH_LIMIT = 1.25;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Resident bytes of the front process and of all engines. */
export interface Level {
  readonly front: number;
  readonly engine: number;
}

/** Returns the resident bytes of the server with this front process. */
export function resident(pid: number): Level {
  const [front = 0, ...engines] = processTree(pid).map((one) => residentBytes(one));
  return { front, engine: engines.reduce((sum, bytes) => sum + bytes, 0) };
}

export const told = ({ front, engine }: Level): string => `front ${megabytes(front)}, engine ${megabytes(engine)}`;

/** Reports which parts grew from the first two of four levels to the last two. */
export function growth(levels: readonly Level[]): string[] {
  return (["front", "engine"] as const).flatMap((part) => {
    const of = levels.map((level) => level[part]);
    const [before, after] = [Math.min(...of.slice(0, 2)), Math.min(...of.slice(2))];
    return after <= before * GROWTH_LIMIT ? [] : [`${part} grew from ${megabytes(before)} to ${megabytes(after)}`];
  });
}
