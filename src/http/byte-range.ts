// The Range header of RFC 9110: one range of bytes of a content of known size.

interface ByteRange {
  /** The first byte, and the one behind the last. */
  readonly start: number;
  readonly end: number;
}

/**
 * The bytes that a Range header requests; `all` when it requests none, or in a way that may be ignored (another unit, several
 * ranges); undefined when they are beyond the content.
 */
export function byteRange(header: string | null, size: number): ByteRange | "all" | undefined {
  const match = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? "");
  const [, first = "", last = ""] = match ?? [];
  if (first === "" && last === "") return "all";
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size : Math.min(size, Number(last) + 1);
  if (first !== "" && last !== "" && Number(last) < Number(first)) return "all";
  return start < end ? { start, end } : undefined;
}
