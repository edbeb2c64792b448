// A semaphore: a fixed number of places, given to waiters in order of arrival.

/** Releases a place. */
export type Release = () => void;

export class Semaphore {
  private readonly waiting: (() => void)[] = [];
  private free: number;

  constructor(private readonly size: number) {
    this.free = size;
  }

  /** Waits for a place and returns the function that releases it; undefined when the signal is aborted first. */
  async acquire(signal: AbortSignal): Promise<Release | undefined> {
    if (signal.aborted) return undefined;
    if (this.free > 0) this.free--;
    else if (!(await this.turn(signal))) return undefined;
    return () => {
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
    };
  }

  /** Waits for all places. Only one caller may do so at a time: several would wait for each other. */
  async acquireAll(signal: AbortSignal): Promise<Release | undefined> {
    const each = await Promise.all(Array.from({ length: this.size }, () => this.acquire(signal)));
    const release = () => each.forEach((one) => one?.());
    if (each.every((one) => one !== undefined)) return release;
    release();
    return undefined;
  }

  /** Resolves to true when a place is passed on, to false after an abort. */
  private turn(signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const leave = () => {
      this.waiting.splice(this.waiting.indexOf(got), 1);
      resolve(false);
    };
    const got = () => {
      signal.removeEventListener("abort", leave);
      resolve(true);
    };
    signal.addEventListener("abort", leave, { once: true });
    this.waiting.push(got);
    return promise;
  }
}
