// `svc pull`: downloads a model into the store, or language data or a component.

import type { Config } from "../config/config.ts";
import { errorMessage } from "../domain/error-message.ts";
import { fileSize } from "../domain/file-size.ts";
import { servingOption } from "../model/serving-option.ts";
import { bytesOf, type Manifest, type ModelStore } from "../store/models/model-store.ts";
import { componentNamed, tessdataLanguage } from "../store/models/short-names.ts";
import { downloadModel } from "./download-model.ts";
import { ExitError } from "./exit-codes.ts";
import { pullComponent } from "./pull-component.ts";
import { pullLanguage } from "./pull-tessdata.ts";
import { writeOut } from "./write-out.ts";

/** Downloads what `name` names and prints how to use it. Throws ExitError. */
export function pullNamed(config: Config, name: string): Promise<void> {
  const language = tessdataLanguage(name);
  if (language !== undefined) return pullLanguage(config, language);
  const component = componentNamed(name);
  return component === undefined ? pullModel(config, name) : pullComponent(config, component);
}

async function pullModel(config: Config, name: string): Promise<void> {
  const { reference, store, manifest, changed } = await downloadModel(config, name);
  const use =
    reference.kind === "set" ? reference.set.use : `Serve it: svc ${optionOf(store, manifest)} ${manifest.name}`;
  const what = changed ? `${fileSize(bytesOf(manifest))} downloaded` : "up to date";
  await writeOut(`${manifest.name}: ${what}. ${use}\n`);
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
