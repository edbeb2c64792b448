// How native failures look in TypeScript.

/** Why something failed: a sentence for the log, and what callers act upon. "failed" is everything that they do not. */
export interface NativeFailure<Code extends string> {
  readonly error: string;
  readonly code: Code | "failed";
}

/** A native call failed. The message is for the log, not for clients, unless the code says otherwise. */
export class NativeError<Code extends string> extends Error {
  readonly code: Code | "failed";

  constructor(message: string, code: Code | "failed" = "failed") {
    super(message);
    this.code = code;
  }
}

/** What a caught value says of itself. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
