// Trying again: as long as there is progress, and a few times without.

import { pause } from "../../domain/pause.ts";
import { systemErrorCode } from "../../domain/system-error-code.ts";
import { PassingError, PullError, UnreachableError } from "./pull-error.ts";

export interface Patience {
  /** Attempts in a row that bring nothing. */
  readonly attempts: number;
  /** Before the second attempt; doubled before each further one. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** A connection that says nothing for so long is given up. */
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
  /** Anything that grows when an attempt brought something. */
  readonly progress?: () => number;
  /** Told before each wait. */
  readonly note: (text: string) => void;
}

/** Runs `attempt` until it succeeds. Throws PullError when the attempts are used up, or what else it threw. */
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
        throw new UnreachableError(`${error.message}; ${fruitless} attempts brought nothing.`);
      if (wait > patience.longestDelayMs) {
        throw new PullError(`${error.message}: try again in ${Math.ceil(wait / 1000)} seconds.`);
      }
      note(`${error.message}; trying again${wait >= 1000 ? ` in ${Math.ceil(wait / 1000)} s` : ""}`);
      await pause(wait, signal);
      delay = Math.min(delay * 2, patience.longestDelayMs);
    }
  }
}

/**
 * Does `work` over a connection, which its signal gives up when `alive` is not called for `idleMs`. What it throws that is no
 * PullError or PassingError becomes the latter, with what `lost` says: of a silent connection, else of a failure of this code.
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
