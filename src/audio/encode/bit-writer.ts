// Writes bits, the highest of each number first.

const FIRST_BYTES = 4096;

export class BitWriter {
  private bytes = new Uint8Array(FIRST_BYTES);
  private length = 0;
  /** Bits that do not fill a byte yet; `count`: their number. */
  private rest = 0;
  private count = 0;

  /** Appends the lowest `bits` of a number, at most 24. */
  write(value: number, bits: number): void {
    this.rest = (this.rest << bits) | (value & ((1 << bits) - 1));
    this.count += bits;
    while (this.count >= 8) {
      this.count -= 8;
      this.append((this.rest >>> this.count) & 0xff);
    }
    this.rest &= (1 << this.count) - 1;
  }

  /** Appends `zeros` zeros and a one. */
  writeUnary(zeros: number): void {
    for (; zeros >= 24; zeros -= 24) this.write(0, 24);
    this.write(1, zeros + 1);
  }

  /** Fills the last byte with zeros. */
  align(): void {
    if (this.count > 0) this.write(0, 8 - this.count);
  }

  /** The complete bytes so far; valid until more is written. */
  get written(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  private append(byte: number): void {
    if (this.length === this.bytes.length) {
      const wider = new Uint8Array(2 * this.length);
      wider.set(this.bytes);
      this.bytes = wider;
    }
    this.bytes[this.length++] = byte;
  }
}
