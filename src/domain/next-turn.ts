/** Resolves in the next turn of the event loop, after other pending work has run. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
