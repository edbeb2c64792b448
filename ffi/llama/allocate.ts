// Memory for what may be too much of it, and giving it back.

/** So many bytes, or undefined when there are not so many: an array has 4 GiB at most, however large the machine is. */
export function allocate(bytes: number): Uint8Array | undefined {
  try {
    return new Uint8Array(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Gives the array's memory back now; it is empty then. Memory that is only forgotten waits for the garbage collector, and
 * that comes after about as much again.
 */
export function release(bytes: Uint8Array): void {
  if (bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
}
