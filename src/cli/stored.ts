// Looks into the folder of downloaded models, for commands.

import { PullError } from "../store/models/pull-error.ts";
import { ExitError, type ExitReason } from "./exit-codes.ts";

/** Returns what `look` finds in the folder of models. Throws ExitError for `reason` when the folder cannot be read. */
export function stored<T>(reason: ExitReason, look: () => T): T {
  try {
    return look();
  } catch (error) {
    throw error instanceof PullError ? new ExitError(reason, error.message) : error;
  }
}
