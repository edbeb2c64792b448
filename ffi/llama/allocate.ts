// Memory for what may be too much of it.

/** So many bytes, or undefined when there are not so many: an array has 4 GiB at most, however large the machine is. */
export function allocate(bytes: number): Uint8Array | undefined {
  try {
    return new Uint8Array(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
