/** Waits for `work`; throws `late()` when it takes more than `ms`. The work then continues; its outcome is ignored. */
export function within<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
