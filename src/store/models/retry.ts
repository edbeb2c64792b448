// Retries downloads: as long as they make progress, and a few times without progress.

import { pause } from "../../domain/pause.ts";
import { systemErrorCode } from "../../domain/system-error-code.ts";
import { PassingError, PullError, UnreachableError } from "./pull-error.ts";

export interface Patience {
  /** Maximum number of consecutive attempts without progress. */
  readonly attempts: number;
  /** Delay before the second attempt; doubled before each further one. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** Milliseconds without data after which a connection is closed. */
  readonly idleMs: number;
}

export const defaultPatience: Patience = {
  attempts: 6,
  firstDelayMs: 500,
  longestDelayMs: 120_000,
  idleMs: 30_000,
};

export interface RetryOptions {
  readonly patience: Patience;
  readonly signal: AbortSignal;
  /** Returns a number that grows when an attempt makes progress. */
  readonly progress?: () => number;
  /** Called with a message before each wait. */
  readonly note: (text: string) => void;
}

/**
 * Runs `attempt` until it succeeds. Retries after a PassingError; throws UnreachableError when the attempts are used up
 * or the requested wait is too long, and any other error at once.
 */
export async function retrying<T>(
  attempt: () => Promise<T>,
  { patience, signal, progress = () => 0, note }: RetryOptions,
): Promise<T> {
  let before = progress();
  let delay = patience.firstDelayMs;
  for (let fruitless = 1; ; fruitless++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof PassingError)) throw error;
      if (progress() > before) {
        fruitless = 1;
        delay = patience.firstDelayMs;
        before = progress();
      }
      const wait = error.retryAfterMs ?? delay;
      if (fruitless >= patience.attempts)
        throw new UnreachableError(`${error.message}; gave up after ${fruitless} attempts without progress.`);
      if (wait > patience.longestDelayMs) {
        throw new UnreachableError(`${error.message}: try again in ${Math.ceil(wait / 1000)} seconds.`);
      }
      note(`${error.message}; trying again${wait >= 1000 ? ` in ${Math.ceil(wait / 1000)} s` : ""}`);
      await pause(wait, signal);
      delay = Math.min(delay * 2, patience.longestDelayMs);
    }
  }
}

/**
 * Runs `work` over a connection, and aborts its signal when `alive` is not called for `idleMs`. Errors other than
 * PullError and PassingError become the latter, with the message of `lost` for a silent connection or an error code.
 */
export async function whileAlive<T>(
  { signal, idleMs }: { readonly signal: AbortSignal; readonly idleMs: number },
  work: (signal: AbortSignal, alive: () => void) => Promise<T>,
  lost: (isSilent: boolean, code: string) => string,
): Promise<T> {
  const idle = new AbortController();
  let timer: Timer | undefined;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => idle.abort(), idleMs);
  };
  alive();
  try {
    return await work(AbortSignal.any([signal, idle.signal]), alive);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PullError || error instanceof PassingError) throw error;
    throw new PassingError(lost(idle.signal.aborted, systemErrorCode(error) ?? "unknown"));
  } finally {
    clearTimeout(timer);
  }
}
