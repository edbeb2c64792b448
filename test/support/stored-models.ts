// Downloads into the folder of a configuration, from a hub that may be given, without patience.

import type { Config } from "../../src/config/config.ts";
import { StoredModels } from "../../src/service/stored-models.ts";

/** Of a server that computes with the model of this configuration. */
export const testStore = ({ modelsDir, model }: Config, hubEndpoint = "http://127.0.0.1:9"): StoredModels =>
  new StoredModels({
    folder: modelsDir,
    hub: () => ({ endpoint: hubEndpoint, userAgent: "svc/test", packageRegistry: "http://127.0.0.1:9" }),
    inUse: model === undefined ? [] : [model],
    patience: { attempts: 5, firstDelayMs: 1, longestDelayMs: 20, idleMs: 60_000 },
    now: Date.now,
  });
