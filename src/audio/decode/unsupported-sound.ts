/** The file has something in it that is not decoded here; another program may. */
export class UnsupportedSound extends Error {
  override readonly name = "UnsupportedSound";
}
