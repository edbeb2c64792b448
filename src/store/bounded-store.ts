// What clients may fetch again: in memory, bounded by count and by size, what changed longest ago out first.

export interface StoreLimits {
  readonly count: number;
  readonly bytes: number;
}

interface Entry<Value> {
  readonly value: Value;
  /** As `put` said. */
  readonly bytes: number;
  /** What `grow` added. */
  grown: number;
}

export class BoundedStore<Value> {
  /** In order of their last change. */
  private readonly entries = new Map<string, Entry<Value>>();
  private bytes = 0;

  constructor(private readonly limits: StoreLimits) {}

  get(id: string): Value | undefined {
    return this.entries.get(id)?.value;
  }

  /**
   * Keeps a value of so many bytes, in place of an earlier state of it; others go out where they must. One that is larger than all
   * may be is not kept, and pushes nobody out.
   */
  put(id: string, value: Value, bytes: number): void {
    const grown = this.entries.get(id)?.grown ?? 0;
    this.delete(id);
    if (bytes + grown > this.limits.bytes) return;
    this.entries.set(id, { value, bytes, grown });
    this.bytes += bytes + grown;
    this.shrink();
  }

  /** Something that belongs to a value has become larger by so many bytes; others go out where they must. */
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

  /** False when there is none. */
  delete(id: string): boolean {
    const entry = this.entries.get(id);
    if (!entry) return false;
    this.entries.delete(id);
    this.bytes -= entry.bytes + entry.grown;
    return true;
  }

  /** The newest first. */
  *values(): Generator<Value, void, void> {
    for (const { value } of [...this.entries.values()].toReversed()) yield value;
  }
}
