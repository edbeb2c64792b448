// `svc list`: lists the models that svc pull downloaded.

import type { Config } from "../config/config.ts";
import { fileSize } from "../domain/file-size.ts";
import { bytesOf, filesOf, ModelStore } from "../store/models/model-store.ts";
import { textTable } from "./text-table.ts";
import { writeOut } from "./write-out.ts";

/** Prints one line per model, or JSON. Throws PullError. */
export async function listStored(config: Pick<Config, "modelsDir">, asJson: boolean): Promise<void> {
  const store = new ModelStore(config.modelsDir);
  const models = store.list().map((model) => ({
    name: model.name,
    bytes: bytesOf(model),
    quant: model.quant ?? null,
    pulled: model.pulled ?? null,
    complete: store.isReady(model),
    url: model.url,
    files: filesOf(model).map(({ path, bytes = null, sha256 = null, part }) => ({
      path: store.path(path),
      bytes,
      sha256,
      ...(part && { part }),
    })),
    mmproj: model.projector ? store.path(model.projector.path) : null,
  }));
  if (asJson) await writeOut(`${JSON.stringify(models, undefined, 2)}\n`);
  else if (models.length === 0) await writeOut(`No models in ${config.modelsDir}; svc pull downloads one.\n`);
  else {
    const rows = models.map(({ name, bytes, quant, pulled, complete }) => [
      name,
      fileSize(bytes),
      quant ?? "",
      complete && pulled ? pulled.slice(0, 16).replace("T", " ") : "incomplete",
    ]);
    await writeOut(textTable(["NAME", "SIZE", "QUANT", "PULLED"], rows));
  }
}
