import { statSync, type Stats } from "node:fs";

/** Returns what is at the path; undefined if nothing is, or if it cannot be examined: its first use reports why. */
export function found(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    // Beyond ENOENT: the path is below a file, in a folder without access, or too long.
    return undefined;
  }
}
