// Live generations by correlation id. Ids come from clients, so two live generations may share one.

/** A live generation: `keys` are the ids of its answers in the engine, unique among live ones. */
export interface Registration {
  readonly id: string;
  readonly keys: readonly string[];
  /** Ends all of them: in their engine, and for what goes before that. */
  readonly stop: () => void;
  /** Aborted when it was stopped: an engine that was not asked yet is not to be. */
  readonly stopped: AbortSignal;
}

export class CancelRegistry {
  private readonly live = new Map<string, Registration[]>();
  private serial = 0;

  /** Live generations that can still be cancelled. */
  get size(): number {
    let count = 0;
    for (const entries of this.live.values()) count += entries.length;
    return count;
  }

  /** Registers a generation of so many answers under the id its client gave; `cancel` ends one of them by its key. */
  add(id: string, cancel: (key: string) => void, answers = 1): Registration {
    const entries = this.live.get(id);
    // Client ids have no spaces, so a key with one cannot be another client's id.
    const key = (answer: number) => (entries || answer > 0 ? `${id} ${++this.serial}` : id);
    const keys = Array.from({ length: answers }, (_, answer) => key(answer));
    const controller = new AbortController();
    const stop = () => {
      controller.abort();
      for (const one of keys) cancel(one);
    };
    const entry = { id, keys, stop, stopped: controller.signal };
    if (entries) entries.push(entry);
    else this.live.set(id, [entry]);
    return entry;
  }

  /** Takes the newest generation of `id` out, for cancelling; undefined when none is live. */
  takeNewest(id: string): Registration | undefined {
    const newest = this.live.get(id)?.at(-1);
    if (newest) this.remove(newest);
    return newest;
  }

  /** Takes everything out. */
  takeAll(): Registration[] {
    const all = [...this.live.values()].flat();
    this.live.clear();
    return all;
  }

  /** Forgets a generation that ended; harmless when it was taken before. */
  remove(entry: Registration): void {
    const rest = this.live.get(entry.id)?.filter((other) => other !== entry);
    if (!rest) return;
    if (rest.length > 0) this.live.set(entry.id, rest);
    else this.live.delete(entry.id);
  }
}
