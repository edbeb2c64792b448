// Several streams as one: whatever comes first is next.

interface Merged<T> {
  /** Which of the streams it came from. */
  readonly source: number;
  readonly value: T;
}

type Outcome<T> = Merged<T> | { readonly failure: unknown };

/**
 * The values of all sources in the order in which they come, until all have ended; the first failure is thrown in its turn.
 * At most one value of each source waits: a slow consumer makes them wait. Ending the sources is the caller's.
 */
export async function* merge<T>(sources: readonly AsyncIterator<T>[]): AsyncGenerator<Merged<T>, void, void> {
  const ready: Outcome<T>[] = [];
  let wake = () => {};
  let live = sources.length;
  // One reaction for each value, however many sources wait beside it.
  const pull = (source: number): void => {
    sources[source]?.next().then(
      (result) => {
        if (result.done) live--;
        else ready.push({ source, value: result.value });
        wake();
      },
      (failure: unknown) => {
        ready.push({ failure });
        wake();
      },
    );
  };
  for (const source of sources.keys()) pull(source);
  while (live > 0) {
    if (ready.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    for (let next = ready.shift(); next; next = ready.shift()) {
      if ("failure" in next) throw next.failure;
      pull(next.source);
      yield next;
    }
  }
}
