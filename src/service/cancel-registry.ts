// Registers live requests by correlation id, for cancelling. Ids come from clients, so two live requests may share one.

import type { CancelCause } from "../domain/cancel.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";

type Owned = Pick<RequestOrigin, "id" | "client">;

/** A live request: `keys` are the ids of its jobs in the engine, unique among live ones. */
interface Registration {
  readonly id: string;
  /** The client that may cancel the request, where clients are distinguished. */
  readonly client: string | undefined;
  readonly keys: readonly string[];
  /**
   * Ends all jobs of the request, in the engine and in the steps before it. Returns false when all of them are complete,
   * even if their last events are still unread.
   */
  readonly stop: (cause: CancelCause) => boolean;
  /** Aborted when the request is stopped; the reason is the cause. */
  readonly stopped: AbortSignal;
}

export class CancelRegistry {
  private readonly live = new Map<string, Registration[]>();
  private serial = 0;

  /** Number of live requests that can still be cancelled. */
  get size(): number {
    let count = 0;
    for (const entries of this.live.values()) count += entries.length;
    return count;
  }

  /**
   * Registers a request of `jobs` jobs under its client's id; `cancel` ends one job by its key, and returns false when
   * that job is complete.
   */
  add({ id, client }: Owned, cancel: (key: string, cause: CancelCause) => boolean, jobs = 1): Registration {
    const entries = this.live.get(id);
    // Client ids have no spaces, so a key with one cannot be another client's id.
    const key = (job: number) => (entries || job > 0 ? `${id} ${++this.serial}` : id);
    const keys = Array.from({ length: jobs }, (_, job) => key(job));
    const controller = new AbortController();
    const stop = (cause: CancelCause) => {
      controller.abort(cause);
      return keys.filter((one) => cancel(one, cause)).length > 0;
    };
    const entry = { id, client, keys, stop, stopped: controller.signal };
    if (entries) entries.push(entry);
    else this.live.set(id, [entry]);
    return entry;
  }

  /**
   * Removes and returns the newest request of `id`, of the client `owner` if given, for cancelling; undefined when none
   * is live.
   */
  takeNewest(id: string, owner?: string): Registration | undefined {
    const newest = this.live.get(id)?.findLast(({ client }) => owner === undefined || client === owner);
    if (newest) this.remove(newest);
    return newest;
  }

  /** Removes and returns all requests. */
  takeAll(): Registration[] {
    const all = [...this.live.values()].flat();
    this.live.clear();
    return all;
  }

  /** Removes a request that ended; does nothing when it was taken before. */
  remove(entry: Registration): void {
    const rest = this.live.get(entry.id)?.filter((other) => other !== entry);
    if (!rest) return;
    if (rest.length > 0) this.live.set(entry.id, rest);
    else this.live.delete(entry.id);
  }
}
