// Gibibytes, the unit of memory in messages and answers.

export const GIB = 2 ** 30;

/** Returns bytes as GiB with one decimal. */
export const gib = (bytes: number): string => (bytes / GIB).toFixed(1);
