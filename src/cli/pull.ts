// `svc pull`: downloads a model into the store, or language data or a component.

import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { hubSettings } from "../config/hub.ts";
import { didYouMean } from "../config/parse.ts";
import { errorMessage } from "../domain/error-message.ts";
import { fileSize } from "../domain/file-size.ts";
import { checkModelFile, servingOption } from "../model/serving-option.ts";
import { KNOWN_SETS } from "../store/models/known-sets.ts";
import { bytesOf, ModelStore, type Manifest } from "../store/models/model-store.ts";
import { pull } from "../store/models/pull.ts";
import { PullError } from "../store/models/pull-error.ts";
import { parseReference, shown, type Reference } from "../store/models/reference.ts";
import { componentNamed, tessdataLanguage } from "../store/models/short-names.ts";
import { runDownload } from "./download-command.ts";
import { ExitError } from "./exit-codes.ts";
import { pullComponent } from "./pull-component.ts";
import { pullLanguage } from "./pull-tessdata.ts";

/** Downloads what `name` names and prints how to use it. Throws ExitError. */
export function pullNamed(config: Config, name: string): Promise<void> {
  const language = tessdataLanguage(name);
  if (language !== undefined) return pullLanguage(config, language);
  const component = componentNamed(name);
  return component === undefined ? pullModel(config, name) : pullComponent(config, component);
}

function pullModel(config: Config, name: string): Promise<void> {
  const hub = hubSettings(processEnvironment());
  const reference = readReference(name, hub.endpoint);
  const store = new ModelStore(config.modelsDir);
  return runDownload({
    config,
    onInterrupt: `svc pull ${shown(name)} continues where this download stopped.`,
    async work(progress, signal) {
      const { manifest, changed } = await pull(reference, {
        hub,
        store,
        signal,
        progress: (state) => progress.showDownload(state),
        note: (text) => progress.note(text),
        check: checkModelFile,
        now: Date.now,
      });
      const use =
        reference.kind === "set" ? reference.set.use : `Serve it: svc ${optionOf(store, manifest)} ${manifest.name}`;
      const what = changed ? `${fileSize(bytesOf(manifest))} downloaded` : "up to date";
      return `${manifest.name}: ${what}. ${use}`;
    },
  });
}

function readReference(name: string, endpoint: string): Reference {
  try {
    return parseReference(name, endpoint);
  } catch (error) {
    if (!(error instanceof PullError)) throw error;
    throw new ExitError("usage", `${error.message}${didYouMean(name, [...KNOWN_SETS.keys()])}`);
  }
}

/** Returns the option that serves the model. Throws ExitError now if an intact file can never be served. */
function optionOf(store: ModelStore, { name, files }: Manifest): string {
  try {
    return servingOption(store.path(files[0]?.path ?? ""));
  } catch (error) {
    const reason = errorMessage(error);
    throw new ExitError("model", `${name} was downloaded, but cannot be served: ${reason} svc rm ${name} removes it.`);
  }
}
