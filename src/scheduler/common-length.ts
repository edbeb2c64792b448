/** Returns the length of the common prefix of two token sequences, at most `limit`. They must agree before `from`. */
export function commonLength(a: Int32Array, b: Int32Array, limit: number, from = 0): number {
  const end = Math.min(a.length, b.length, limit);
  let index = from;
  while (index < end && a[index] === b[index]) index++;
  return index;
}
