/** Thrown when a file has content that is not decoded here; another program may decode it. */
export class UnsupportedSound extends Error {
  override readonly name = "UnsupportedSound";
}
