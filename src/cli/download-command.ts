// Runs a command that downloads: shows progress, and handles interrupts and failures.

import type { Config } from "../config/config.ts";
import { PullError } from "../store/models/pull-error.ts";
import { DownloadLine } from "./download-line.ts";
import { ExitError } from "./exit-codes.ts";
import { progressOutput } from "./terminal.ts";
import { writeOut } from "./write-out.ts";

interface DownloadCommand {
  readonly config: Pick<Config, "logFormat" | "logLevel">;
  /** What is printed behind "Interrupted. ". */
  readonly onInterrupt: string;
  /** Downloads and returns the sentence to print. SIGINT and SIGTERM abort the signal. */
  readonly work: (progress: DownloadLine, signal: AbortSignal) => Promise<string>;
}

/** Runs the command. Throws ExitError. */
export async function runDownload({ config, onInterrupt, work }: DownloadCommand): Promise<void> {
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort(signal));
  const progress = new DownloadLine(progressOutput(config));
  try {
    const sentence = await work(progress, interrupt.signal);
    progress.end();
    await writeOut(`${sentence}\n`);
  } catch (error) {
    progress.end();
    if (interrupt.signal.aborted) throw new ExitError("interrupted", `Interrupted. ${onInterrupt}`);
    throw error instanceof PullError ? new ExitError("download", error.message) : error;
  }
}
