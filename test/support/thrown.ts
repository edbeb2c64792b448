// How calls fail.

import { SvcError } from "../../src/domain/errors.ts";

/** Returns the code and field of the SvcError that a function throws. */
export function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return codeAndField(error);
  }
  return "no failure";
}

/** Returns the code and field of the SvcError that a promise rejects with, or what else it rejects with. */
export const rejection = (work: Promise<unknown>): Promise<unknown> => work.then(() => "no failure", codeAndField);

/** Returns only the code. */
export const rejectionCode = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no failure",
    (error: unknown) => (error instanceof SvcError ? error.code : error),
  );

/** Returns the message of the error that a promise rejects with. */
export const rejectionMessage = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "no failure",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

const codeAndField = (error: unknown) => (error instanceof SvcError ? [error.code, error.details.param] : error);
