/** Resolves in the next turn of the event loop, when others had theirs. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
