/** Thrown when a model cannot be downloaded or stored. `message` is one plain sentence for the operator. */
export class PullError extends Error {
  override readonly name = "PullError";
}

/** Thrown when the server does not respond, or asks to come back much later; models in the store still work. */
export class UnreachableError extends PullError {}

/** Thrown when a whole file arrived that is damaged or no model. */
export class RejectedError extends PullError {}

/** A temporary failure: a lost connection, a busy server. `retryAfterMs`: the delay that the server requested. */
export class PassingError extends Error {
  override readonly name = "PassingError";

  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}
