// Refuses contexts with which nothing could be served, before a model is loaded with them.

import type { Config } from "../config/config.ts";
import { memorySize } from "../domain/gib.ts";
import type { ContextChoice } from "../model/context.ts";
import type { ModelFile } from "../model/model-file.ts";
import { ExitError } from "./exit-codes.ts";

/** Tokens that every request needs: a chat template alone takes dozens. */
const LEAST_SHARE = 64;
/** How many times the memory of this machine a KV cache may have: what is not filled may never be taken. */
const MOST_OVERCOMMIT = 2;

/** `totalBytes`: memory of the machine if the KV cache is there, else Infinity. Throws ExitError. */
export function checkContext(
  choice: ContextChoice,
  { ctx, parallel }: Pick<Config, "ctx" | "parallel">,
  totalBytes: number,
  { slidingWindow }: Pick<ModelFile, "slidingWindow">,
): void {
  const { kvMode, maxModelLen, context, kvBytes } = choice;
  if (kvMode === "streams" && maxModelLen < LEAST_SHARE) {
    throw new ExitError(
      "usage",
      `--parallel ${parallel} leaves each request ${maxModelLen} of the ${ctx ?? context} tokens of --ctx in fixed shares (--kv-mode streams), but a request needs at least ${LEAST_SHARE}: set a larger --ctx or a smaller --parallel.`,
    );
  }
  // Layers with a sliding window need less than is counted.
  if (slidingWindow === 0 && kvBytes > totalBytes * MOST_OVERCOMMIT) {
    throw new ExitError(
      "usage",
      `--ctx ${ctx ?? context} needs ${memorySize(kvBytes)} for the KV cache, but this machine has ${memorySize(totalBytes)} of memory: set a smaller --ctx.`,
    );
  }
}

/** Returns a warning to log before a model is loaded that may not fit, else undefined. */
export const contextWarning = ({ context, isTight, note }: ContextChoice, ctx = context): string | undefined =>
  isTight ? `--ctx ${ctx} ${note}: loading may take long, or fail` : undefined;
