// Offers the models that svc pull downloaded, for --pulled-models.

import { offeredChat, type ReadKinds } from "../service/local-model.ts";
import { offeredEmbeddings } from "../service/offered-models.ts";
import { PulledModels, type OpenedModel } from "../service/pulled-models.ts";
import { readServed } from "../model/serving-option.ts";
import { ModelStore, type Manifest } from "../store/models/model-store.ts";
import { chatEngine, embeddingEngine, type Setup } from "./engines.ts";

/**
 * Returns the source of these models; undefined unless the option is set. `given`: the names of models that other
 * options offer, by their first file. `read`: the media that become text.
 */
export function pulledModels(
  setup: Setup,
  given: ReadonlyMap<string, string>,
  read: ReadKinds,
): PulledModels | undefined {
  const { config, launch } = setup;
  if (!config.pulledModels) return undefined;
  const store = new ModelStore(config.modelsDir);
  const open = ({ name, files }: Manifest): OpenedModel | undefined => {
    const served = readServed(store.path(files[0]?.path ?? ""));
    if (served.option === "--model") {
      const engine = chatEngine({ ...served.file, id: name }, name, setup);
      return { engine, offered: offeredChat(engine, config.parallel, read)[0] };
    }
    if (served.option !== "--embedding-model" && served.option !== "--rerank-model") return undefined;
    const engine = embeddingEngine({ ...served.file, id: name }, setup);
    return { engine, offered: offeredEmbeddings(engine, config.parallel) };
  };
  return new PulledModels({ store, open, given, log: launch.log });
}
