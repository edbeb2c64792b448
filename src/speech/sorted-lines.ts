// A table of words that needs no loading: lines of `key TAB value` in UTF-8, sorted by bytes, searched in place.

const NEW_LINE = 10;
const TAB = 9;

export class SortedLines {
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();

  /** `bytes`: each line ends with a line feed, in a damaged file perhaps not the last; one without a tab has no value. */
  constructor(private readonly bytes: Uint8Array) {}

  /** Returns the value of `key`, or undefined when there is no such line. */
  get(key: string): string | undefined {
    const wanted = this.encoder.encode(key);
    let low = 0;
    let high = this.bytes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const start = middle === 0 ? 0 : this.bytes.lastIndexOf(NEW_LINE, middle - 1) + 1;
      const feed = this.bytes.indexOf(NEW_LINE, start);
      const end = feed < 0 ? this.bytes.length : feed;
      const order = this.compare(wanted, start);
      if (order === 0) return this.decoder.decode(this.bytes.subarray(start + wanted.length + 1, end));
      if (order < 0) high = start;
      else low = end + 1;
    }
    return undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Returns a negative number when `wanted` precedes the key of the line at `start`, a positive one after it. */
  private compare(wanted: Uint8Array, start: number): number {
    for (let at = 0; ; at += 1) {
      const byte = this.bytes[start + at] ?? NEW_LINE;
      const isEnd = byte === TAB || byte === NEW_LINE;
      const mine = wanted[at];
      if (mine === undefined) return isEnd ? 0 : -1;
      if (isEnd) return 1;
      if (mine !== byte) return mine - byte;
    }
  }
}
