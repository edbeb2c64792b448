/** A model cannot be downloaded, or not be kept. `message` is one plain sentence for the operator. */
export class PullError extends Error {
  override readonly name = "PullError";
}

/** The network, or the server behind it, does not answer: what is in the store still works. */
export class UnreachableError extends PullError {}

/** A failure that may pass: the connection was lost, the server is busy. `retryAfterMs` is what the server asked for. */
export class PassingError extends Error {
  override readonly name = "PassingError";

  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}
