// Keeps the bytes of a stream that are still needed, addressed by their position in the stream.

const LEAST_BYTES = 16 * 1024;

export class SoundBuffer {
  private bytes = new Uint8Array(LEAST_BYTES);
  /** Position of the first stored byte. */
  private start = 0;
  private length = 0;

  /** Position behind the last byte received. */
  get end(): number {
    return this.start + this.length;
  }

  append(bytes: Uint8Array): void {
    const needed = this.length + bytes.length;
    if (needed > this.bytes.length) this.resize(2 * needed);
    this.bytes.set(bytes, this.length);
    this.length = needed;
  }

  /** Returns a copy of the bytes between two positions, as far as they are stored. */
  slice(from: number, to: number): Uint8Array {
    return this.bytes.slice(Math.max(0, from - this.start), Math.max(0, Math.min(to, this.end) - this.start));
  }

  /** Drops the bytes before a position. */
  dropBefore(place: number): void {
    const count = Math.min(place, this.end) - this.start;
    if (count <= 0) return;
    this.bytes.copyWithin(0, count, this.length);
    this.start += count;
    this.length -= count;
    // Releases the memory that a burst needed.
    if (this.bytes.length > LEAST_BYTES && this.length < this.bytes.length / 8) this.resize(2 * this.length);
  }

  private resize(size: number): void {
    const bytes = new Uint8Array(Math.max(size, LEAST_BYTES));
    bytes.set(this.bytes.subarray(0, this.length));
    this.bytes = bytes;
  }
}
