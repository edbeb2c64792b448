// Exit codes of the program, for scripts.

export const exitCodes = {
  ok: { code: 0, meaning: "done, or stopped by SIGINT or SIGTERM" },
  failure: { code: 1, meaning: "failed, or ended by a second signal: the last line of stderr says why" },
  usage: { code: 2, meaning: "wrong option or value" },
  model: { code: 3, meaning: "a model, an adapter or a worker cannot be used, or no model has this name" },
  address: { code: 4, meaning: "the server cannot listen on this address or port" },
  download: { code: 5, meaning: "a download failed; a received part that can be resumed is kept" },
  interrupted: { code: 130, meaning: "a one-shot answer or a download was interrupted" },
} as const;

export type ExitReason = keyof typeof exitCodes;

/** Ends the program with one sentence and a code. `main` also has codes for other errors, such as ModelFileError. */
export class ExitError extends Error {
  override readonly name = "ExitError";

  constructor(
    readonly reason: ExitReason,
    message: string,
  ) {
    super(message);
  }
}

/** Returns what `work` returns. Any error ends the program with the sentence that `say` returns for it. */
export function orExit<T>(work: () => T, say: (error: unknown) => string): T {
  try {
    return work();
  } catch (error) {
    throw new ExitError("failure", say(error));
  }
}
