// `svc pull tessdata:NAME`: downloads the data for recognising text in another language.

import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { npmRegistry } from "../config/hub.ts";
import { userAgent } from "../config/version.ts";
import { isTessdata, pullTessdata, TESSDATA_NAMES } from "../store/models/pull-tessdata.ts";
import { shown } from "../store/models/reference.ts";
import { tessdataModel } from "../store/models/short-names.ts";
import { runDownload } from "./download-command.ts";
import { ExitError } from "./exit-codes.ts";

/** Downloads a language's data and prints its path. Throws ExitError. */
export function pullLanguage(config: Config, name: string): Promise<void> {
  if (!isTessdata(name)) throw new ExitError("usage", TESSDATA_NAMES);
  const operand = tessdataModel(name);
  const registry = npmRegistry(processEnvironment());
  return runDownload({
    config,
    onInterrupt: `svc pull ${shown(operand)} starts the download again.`,
    async work(progress, signal) {
      const path = await pullTessdata({
        name,
        registry,
        userAgent,
        folder: config.modelsDir,
        signal,
        progress: (received, total) =>
          progress.showDownload({ name: operand, received, ...(total !== undefined && { total }), waiting: false }),
        note: (text) => progress.note(text),
        now: Date.now,
      });
      return `${operand}: ${path}. Use it: svc ocr --language ${name} FILE, or "languages": ["${name}"].`;
    },
  });
}
