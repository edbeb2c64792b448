// Keeps the list of downloaded models in memory, and reads it again after any process has changed it.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Manifest, ModelStore } from "./model-store.ts";

/** Milliseconds in which file systems may give two changes one time. */
const SAME_TIME_MS = 2000;

export class ManifestList {
  private models: readonly Manifest[] = [];
  /** When each folder had last been changed, in milliseconds since 1970; undefined: it is missing. */
  private folders: ReadonlyMap<string, number | undefined> = new Map();
  private readAt: number | undefined;

  constructor(private readonly store: ModelStore) {}

  /**
   * Returns what `ModelStore.list` does, as the same array until it changes. Looks at the folders, and not at the files
   * in them, unless one has changed. Throws PullError.
   */
  current(): readonly Manifest[] {
    if (this.isCurrent()) return this.models;
    const readAt = Date.now();
    // A change while the list is read must be seen the next time.
    const folders = new Map(this.foldersNow().map((path) => [path, changedAt(path)]));
    this.models = this.store.list();
    this.folders = folders;
    this.readAt = readAt;
    return this.models;
  }

  private isCurrent(): boolean {
    const { readAt } = this;
    if (readAt === undefined) return false;
    return [...this.folders].every(
      ([path, time]) => changedAt(path) === time && (time === undefined || time + SAME_TIME_MS < readAt),
    );
  }

  private foldersNow(): string[] {
    const root = this.store.manifests;
    try {
      const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
      return [root, ...found.map(({ parentPath, name }) => join(parentPath, name))];
    } catch {
      // Unless it is missing, the store says why when it is to list the models.
      return [root];
    }
  }
}

/** Returns NaN, which equals nothing, while the folder cannot be read. */
function changedAt(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  } catch {
    return NaN;
  }
}
