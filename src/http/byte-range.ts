// Reads the Range header of a request for a file.

interface ByteRange {
  /** The first byte, and the byte after the last one. */
  readonly start: number;
  readonly end: number;
}

/** Longer Range headers are ignored, because reading one takes the square of its length. */
const LONGEST_RANGE = 100;

/**
 * Returns the bytes that a Range header requests; `all` when it requests none, or in a form that may be ignored
 * (another unit, several ranges, many spaces); undefined when they are beyond the content.
 */
export function byteRange(header: string | null, size: number): ByteRange | "all" | undefined {
  if (header !== null && header.length > LONGEST_RANGE) return "all";
  const match = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? "");
  const [, first = "", last = ""] = match ?? [];
  if (first === "" && last === "") return "all";
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return "all";
  return start < end ? { start, end } : undefined;
}
