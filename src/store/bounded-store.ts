// Stores values for clients to fetch, in memory, limited by count and bytes; evicts the least recently changed ones.

export interface StoreLimits {
  readonly count: number;
  readonly bytes: number;
}

interface Entry<Value> {
  readonly value: Value;
  /** Bytes given to `put`. */
  readonly bytes: number;
  /** Bytes added by `grow`. */
  grown: number;
}

export class BoundedStore<Value> {
  /** Entries in order of their last change. */
  private readonly entries = new Map<string, Entry<Value>>();
  private bytes = 0;

  /** `gone`: receives each value that is deleted, evicted or replaced. */
  constructor(
    private readonly limits: StoreLimits,
    private readonly gone?: (value: Value) => void,
  ) {}

  get(id: string): Value | undefined {
    return this.entries.get(id)?.value;
  }

  /**
   * Stores a value of `bytes` bytes in place of an earlier state, and evicts others if necessary. A value above the
   * limit is not stored and evicts nothing.
   */
  put(id: string, value: Value, bytes: number): void {
    const grown = this.entries.get(id)?.grown ?? 0;
    this.delete(id);
    if (bytes + grown > this.limits.bytes) return;
    this.entries.set(id, { value, bytes, grown });
    this.bytes += bytes + grown;
    this.shrink();
  }

  /** Adds bytes to a value's size and evicts others if necessary. A value that exceeds the limit is deleted. */
  grow(id: string, bytes: number): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    if (entry.bytes + entry.grown + bytes > this.limits.bytes) return void this.delete(id);
    entry.grown += bytes;
    this.bytes += bytes;
    this.shrink();
  }

  private shrink(): void {
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.limits.count && this.bytes <= this.limits.bytes) return;
      this.delete(oldest);
    }
  }

  /** Deletes a value; returns false when there is none. */
  delete(id: string): boolean {
    const entry = this.entries.get(id);
    if (!entry) return false;
    this.entries.delete(id);
    this.bytes -= entry.bytes + entry.grown;
    this.gone?.(entry.value);
    return true;
  }

  clear(): void {
    for (const id of this.entries.keys()) this.delete(id);
  }
}
