// Holds the only store of files and batches of this process, opened on first use.

import { TurnLimit } from "../../domain/turn-limit.ts";
import { JobStore } from "../../store/job-store.ts";
import { withStorage } from "../../store/storage-error.ts";

export class JobFolder {
  /** For synchronous disk work, which blocks everything else for a few milliseconds each time. */
  readonly turns = new TurnLimit(1);
  private opened: JobStore | undefined;

  /** `path` is the data folder, limited to `mostBytes`; nothing is created there before the first write. */
  constructor(
    private readonly path: string,
    private readonly mostBytes: number,
  ) {}

  /** Opens the store, and creates it if missing. Throws SvcError `storage_full` or `storage_unavailable`. */
  open(): JobStore {
    return (this.opened ??= withStorage(() => new JobStore(this.path, this.mostBytes)));
  }

  /** Returns the store if it exists. Throws SvcError as `open` does. */
  find(): JobStore | undefined {
    return this.opened ?? (JobStore.exists(this.path) ? this.open() : undefined);
  }

  close(): void {
    this.opened?.close();
    this.opened = undefined;
  }
}
