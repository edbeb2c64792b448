// Why an engine does not take a job: what clients are told.

import { retryAfterSeconds, SvcError } from "../../domain/errors.ts";

const unavailable = (message: string, seconds?: number): SvcError =>
  new SvcError("engine_unavailable", message, seconds === undefined ? {} : { retryAfterSeconds: seconds });

/** The operator has to look after the model: no retry helps. */
export const couldNotLoad = (): SvcError => unavailable("The model could not be loaded.");

/** Its process cannot be started. */
export const couldNotStart = (): SvcError => unavailable("The model cannot be started; the server's log says why.");

/** It is tried again in `ms` milliseconds. `isProven`: it was loaded once. */
export const waitsForRestart = (isProven: boolean, ms: number): SvcError =>
  unavailable(
    isProven
      ? "The model engine is down and will be restarted."
      : "The model could not be loaded; it will be tried again.",
    Math.max(1, Math.ceil(ms / 1000)),
  );

/** It stands still; `ms`: as long as it may go on with that. */
export const stalled = (ms: number): SvcError =>
  unavailable("The model engine does not answer at the moment.", retryAfterSeconds(ms));

/** It has been loading for as long as a job waits. */
export const stillLoading = (ms: number): SvcError =>
  unavailable(`The model is still loading after ${Math.round(ms / 1000)} s of waiting.`, 5);
