// Downloads a model into the store, for `svc pull` and for --pull.

import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { hubSettings } from "../config/hub.ts";
import { didYouMean } from "../config/parse.ts";
import { checkModelFile } from "../model/serving-option.ts";
import { KNOWN_SETS } from "../store/models/known-sets.ts";
import { ModelStore } from "../store/models/model-store.ts";
import { pull, type Pulled } from "../store/models/pull.ts";
import { PullError } from "../store/models/pull-error.ts";
import { parseReference, shown, type Reference } from "../store/models/reference.ts";
import { whileDownloading } from "./download-command.ts";
import { ExitError } from "./exit-codes.ts";

/** Downloads what the store lacks of a model's newest version. Throws ExitError. */
export async function downloadModel(
  config: Config,
  name: string,
): Promise<Pulled & { readonly reference: Reference; readonly store: ModelStore }> {
  const hub = hubSettings(processEnvironment());
  const reference = readReference(name, hub.endpoint);
  const store = new ModelStore(config.modelsDir);
  const pulled = await whileDownloading({
    config,
    onInterrupt: `svc pull ${shown(name)} continues where this download stopped.`,
    work: (progress, signal) =>
      pull(reference, {
        hub,
        store,
        signal,
        progress: (state) => progress.showDownload(state),
        note: (text) => progress.note(text),
        check: checkModelFile,
        now: Date.now,
      }),
  });
  return { ...pulled, reference, store };
}

function readReference(name: string, endpoint: string): Reference {
  try {
    return parseReference(name, endpoint);
  } catch (error) {
    if (!(error instanceof PullError)) throw error;
    throw new ExitError("usage", `${error.message}${didYouMean(name, [...KNOWN_SETS.keys()])}`);
  }
}
