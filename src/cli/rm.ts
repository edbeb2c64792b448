// `svc rm`: removes a downloaded model.

import type { Config } from "../config/config.ts";
import { fileSize } from "../domain/file-size.ts";
import { ModelStore } from "../store/models/model-store.ts";
import { shown } from "../store/models/reference.ts";
import { ExitError } from "./exit-codes.ts";
import { writeOut } from "./write-out.ts";

/** Removes all files of the model with this name without asking. Throws ExitError or PullError. */
export async function removeModel(config: Pick<Config, "modelsDir">, name: string): Promise<void> {
  const store = new ModelStore(config.modelsDir);
  const [model, ...others] = store.findAll(name);
  if (others.length > 0) {
    const names = [model, ...others].map((one) => `  ${one?.name}`).join("\n");
    throw new ExitError("usage", `${shown(name)} names several models; one of these is meant:\n${names}`);
  }
  if (!model)
    throw new ExitError("model", `There is no model ${shown(name)} in ${config.modelsDir}; svc list shows all.`);
  const bytes = await store.remove(model);
  await writeOut(`${model.name} removed, ${fileSize(bytes)} freed.\n`);
}
