// Notices that files of a model were replaced while no process had them loaded.

import { statSync } from "node:fs";

export class ModelFiles {
  /** Size and modification time of each file; undefined for one that is not there yet. */
  private readonly known: Map<string, string | undefined>;

  constructor(paths: readonly string[]) {
    this.known = new Map(paths.map((path) => [path, stampOf(path)]));
  }

  /** Returns the files that are not what they were at the last call, at first when this was created. */
  changed(): string[] {
    return [...this.known].flatMap(([path, before]) => {
      const now = stampOf(path);
      // Loading reports a file that is missing.
      if (now === undefined || now === before) return [];
      this.known.set(path, now);
      return before === undefined ? [] : [path];
    });
  }
}

function stampOf(path: string): string | undefined {
  try {
    const { size, mtimeMs } = statSync(path);
    return `${size} ${mtimeMs}`;
  } catch {
    return undefined;
  }
}
