// The disk under the caches of a fake engine.

import type { Computed } from "../../src/scheduler/kv/prefix-index.ts";
import type { Scheduler } from "../../src/scheduler/scheduler.ts";

/** Files that outlive an engine. */
export class FakeDisk {
  /** What each file contains, by number. */
  readonly files = new Map<number, Computed>();
  /** Whether the next file to be read is damaged. */
  isDamaged = () => false;
  /** How many steps a read takes. */
  delay = 2;
  writes = 0;
  /** When what was written had been used last, in the order of writes. */
  readonly usedAt: number[] = [];
  reads = 0;
  private waiting: { readonly diskId: number; readonly hostId: number; steps: number }[] = [];

  get isReading(): boolean {
    return this.waiting.length > 0;
  }

  open({ kv }: Scheduler): void {
    this.waiting = [];
    for (const [id, file] of this.files) kv.disk.add({ id, ...file, media: [] });
  }

  write({ ids, adapterKey: computedBy, at }: Computed & { readonly at: number }, { kv }: Scheduler): void {
    const id = ++this.writes;
    this.usedAt.push(at);
    const file = { ids, adapterKey: computedBy };
    this.files.set(id, file);
    kv.disk.add({ id, ...file, media: [] });
  }

  read(diskId: number, hostId: number): void {
    this.reads++;
    this.waiting.push({ diskId, hostId, steps: this.delay });
  }

  /** Deleting a file that does not exist is an error, except while it is being read. */
  delete(id: number): void {
    if (!this.files.delete(id)) throw new Error(`file ${id} is deleted and was not there`);
  }

  /** Returns the reads that have finished by now; `file` is undefined when a read failed. */
  arrive(): { readonly hostId: number; readonly file: Computed | undefined }[] {
    const done = this.waiting.filter((one) => one.steps-- <= 0);
    this.waiting = this.waiting.filter((one) => !done.includes(one));
    return done.map(({ hostId, diskId }) => {
      const file = this.isDamaged() ? undefined : this.files.get(diskId);
      if (!file) this.files.delete(diskId);
      return { hostId, file };
    });
  }
}
