// Runs downloads for commands: shows progress, and handles interrupts and failures.

import type { Config } from "../config/config.ts";
import { PullError } from "../store/models/pull-error.ts";
import { DownloadLine } from "./download-line.ts";
import { ExitError } from "./exit-codes.ts";
import { progressOutput } from "./terminal.ts";
import { writeOut } from "./write-out.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

interface Download<T> {
  readonly config: Pick<Config, "logFormat" | "logLevel">;
  /** What is printed behind "Interrupted. ". */
  readonly onInterrupt: string;
  /** Downloads. SIGINT and SIGTERM abort the signal. */
  readonly work: (progress: DownloadLine, signal: AbortSignal) => Promise<T>;
}

/** Runs a command whose work returns the sentence to print. Throws ExitError. */
export async function runDownload(command: Download<string>): Promise<void> {
  await writeOut(`${await untilSignal(command)}\n`);
}

/** Returns what the work returns. Throws ExitError, also when the work ends well after a signal: nothing is to follow. */
export function whileDownloading<T>(download: Download<T>): Promise<T> {
  return untilSignal({
    ...download,
    work: async (progress, signal) => {
      const result = await download.work(progress, signal);
      signal.throwIfAborted();
      return result;
    },
  });
}

async function untilSignal<T>({ config, onInterrupt, work }: Download<T>): Promise<T> {
  const interrupt = new AbortController();
  const abort = (signal: NodeJS.Signals) => interrupt.abort(signal);
  for (const signal of SIGNALS) process.once(signal, abort);
  const progress = new DownloadLine(progressOutput(config));
  try {
    return await work(progress, interrupt.signal);
  } catch (error) {
    if (interrupt.signal.aborted) throw new ExitError("interrupted", `Interrupted. ${onInterrupt}`);
    throw error instanceof PullError ? new ExitError("download", error.message) : error;
  } finally {
    progress.end();
    // What follows, such as loading the model, must end by the signal again.
    for (const signal of SIGNALS) process.off(signal, abort);
  }
}
