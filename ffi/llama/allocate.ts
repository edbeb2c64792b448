// Allocates arrays that may be too large to allocate, and releases them at once.

/** Returns `bytes` bytes, or undefined when they cannot be allocated: an array has 4 GiB at most, on any machine. */
export function allocate(bytes: number): Uint8Array | undefined {
  try {
    return new Uint8Array(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Releases the array's memory now; the array is empty afterwards. Memory that is only unreachable waits for the garbage
 * collector, which runs only after about as much memory was allocated again.
 */
export function release(bytes: Uint8Array): void {
  if (bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
}
