/** Thrown for data of a recognizer that cannot be loaded; the message names its files. */
export class UnusableData extends Error {
  override readonly name = "UnusableData";
}
