// Merges several streams into one, in order of arrival.

interface Merged<T> {
  /** Number of the stream that the value came from. */
  readonly source: number;
  readonly value: T;
}

type Outcome<T> = (Merged<T> & { readonly values: AsyncIterator<T> }) | { readonly failure: unknown };

export class Merge<T> {
  private readonly ready: Outcome<T>[] = [];
  private wake = () => {};
  private live = 0;

  /** Adds a stream with the number `source`. The caller must end the stream. */
  add(source: number, values: AsyncIterator<T>): void {
    this.live++;
    this.pull(source, values);
  }

  /**
   * Emits the values of all streams in order of arrival, until all have ended; throws the first failure in its turn. At
   * most one value of each stream waits, so a slow consumer applies backpressure: a stream continues when the consumer
   * asks for what follows its value.
   */
  async *values(): AsyncGenerator<Merged<T>, void, void> {
    const { ready } = this;
    while (this.live > 0) {
      if (ready.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
      for (let next = ready.shift(); next; next = ready.shift()) {
        if ("failure" in next) throw next.failure;
        const { values, ...merged } = next;
        yield merged;
        this.pull(merged.source, values);
      }
    }
  }

  /** Requests one value at a time from a stream; the work per value does not depend on the number of streams. */
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
