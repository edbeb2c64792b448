// The one store of files and batches of this process, opened when it is first needed.

import { TurnLimit } from "../../domain/turn-limit.ts";
import { JobStore } from "../../store/job-store.ts";
import { withStorage } from "../../store/storage-error.ts";

export class JobFolder {
  /** For work that waits for the disk while everything else stands still, each a few milliseconds. */
  readonly turns = new TurnLimit(1);
  private opened: JobStore | undefined;

  /** `path` is the data folder; nothing is made in it before something is to be stored, and no more than `mostBytes`. */
  constructor(
    private readonly path: string,
    private readonly mostBytes: number,
  ) {}

  /** Opens the store, and makes it if it is not there. Throws SvcError `storage_full` or `storage_unavailable`. */
  open(): JobStore {
    return (this.opened ??= withStorage(() => new JobStore(this.path, this.mostBytes)));
  }

  /** The store, if anything was ever stored. Throws SvcError as `open` does. */
  find(): JobStore | undefined {
    return this.opened ?? (JobStore.exists(this.path) ? this.open() : undefined);
  }

  close(): void {
    this.opened?.close();
    this.opened = undefined;
  }
}
