// Gibibytes, the unit of memory in messages and answers.

export const GIB = 2 ** 30;
const MIB = 2 ** 20;

/** Formats an amount of memory: in GiB, or below one in MiB, which tells small amounts apart. */
export const memorySize = (bytes: number): string =>
  bytes >= 1023.95 * MIB ? `${(bytes / GIB).toFixed(1)} GiB` : `${(bytes / MIB).toFixed(1)} MiB`;
