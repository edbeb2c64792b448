// Gibibytes, the unit of memory in messages and answers.

export const GIB = 2 ** 30;

/** Bytes in GiB, to a tenth. */
export const gib = (bytes: number): string => (bytes / GIB).toFixed(1);
