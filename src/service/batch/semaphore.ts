// A number of places that many share: who has waited longest gets the next one.

/** Gives a place back. */
export type Release = () => void;

export class Semaphore {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /** Takes a place; the returned function gives it back. Undefined when the signal is aborted first. */
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

  /** Resolves with true when a place was passed on, with false after an abort. */
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
