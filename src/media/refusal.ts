// Why a medium is not taken, before it is known which field of the request it came from.

import { invalidValue, SvcError } from "../domain/errors.ts";

/** Thrown by everything below `loadMedia`, which knows the field. `rule` and `got` never hold text of the client's. */
export class Refusal extends Error {
  override readonly name = "Refusal";

  /** Reads as "'field' must `rule`; got `got`." */
  constructor(
    readonly rule: string,
    readonly got: string,
  ) {
    super(`must ${rule}; got ${got}`);
  }

  /** The error for the client. */
  at(param: string): SvcError {
    return invalidValue(param, this.rule, this.got);
  }
}

/** What `work` resolves to. Throws SvcError about the field in place of a Refusal. */
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

/** A size as people say it: `23.4 MB`, and in bytes where megabytes would hide the difference. */
function megabytes(bytes: number): string {
  return bytes < 100_000 ? `${bytes} bytes` : `${Number((bytes / 1e6).toFixed(2))} MB`;
}
