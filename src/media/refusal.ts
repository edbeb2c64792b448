// The reason why a medium is refused, while the request field that it came from is not known.

import { invalidValue, SvcError } from "../domain/errors.ts";

/** Thrown by everything below `loadMedia`, which knows the field. `rule` and `got` never contain text of the client. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  /** The message reads "'field' must `rule`; got `got`." */
  constructor(
    readonly rule: string,
    readonly got: string,
  ) {
    super(`must ${rule}; got ${got}`);
  }

  /** Returns the error for the client. */
  at(param: string): SvcError {
    return invalidValue(param, this.rule, this.got);
  }
}

/** Returns what `work` resolves to. Throws SvcError for the field in place of a Refusal. */
export async function atField<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Refusal ? error.at(field) : error;
  }
}

/** Throws Refusal when a medium is empty or larger than `limit` bytes. */
export function checkSize(bytes: number, limit: number): void {
  if (bytes === 0) throw new Refusal("not be empty", "0 bytes");
  if (bytes > limit) throw new Refusal(`be at most ${megabytes(limit)}`, megabytes(bytes));
}

/** Formats a size as `23.4 MB`, or in bytes where megabytes would hide a difference. */
function megabytes(bytes: number): string {
  return bytes < 100_000 ? `${bytes} bytes` : `${Number((bytes / 1e6).toFixed(2))} MB`;
}
