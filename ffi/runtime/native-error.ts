// Represents native failures in TypeScript.

/** Why something failed: a message for the log, and a code that callers handle; "failed" for everything else. */
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

/** Returns the message of a caught value. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
