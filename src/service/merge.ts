// Several streams as one: whatever comes first is next.

interface Merged<T> {
  /** Which of the streams it came from. */
  readonly source: number;
  readonly value: T;
}

type Outcome<T> = (Merged<T> & { readonly values: AsyncIterator<T> }) | { readonly failure: unknown };

export class Merge<T> {
  private readonly ready: Outcome<T>[] = [];
  private wake = () => {};
  private live = 0;

  /** Another stream, which `source` is the name of. Ending it is the caller's. */
  add(source: number, values: AsyncIterator<T>): void {
    this.live++;
    this.pull(source, values);
  }

  /**
   * The values of all streams in the order in which they come, until all have ended; the first failure is thrown in its turn.
   * At most one value of each stream waits: a slow consumer makes them wait.
   */
  async *values(): AsyncGenerator<Merged<T>, void, void> {
    const { ready } = this;
    while (this.live > 0) {
      if (ready.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
      for (let next = ready.shift(); next; next = ready.shift()) {
        if ("failure" in next) throw next.failure;
        const { values, ...merged } = next;
        this.pull(merged.source, values);
        yield merged;
      }
    }
  }

  /** One reaction for each value, however many streams wait beside it. */
  private pull(source: number, values: AsyncIterator<T>): void {
    values.next().then(
      (result) => {
        if (result.done) this.live--;
        else this.ready.push({ source, value: result.value, values });
        this.wake();
      },
      (failure: unknown) => {
        this.ready.push({ failure });
        this.wake();
      },
    );
  }
}
