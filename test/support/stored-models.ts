// Downloads into the models folder of a configuration, optionally from a given hub, with short retry delays.

import type { Config } from "../../src/config/config.ts";
import { StoredModels } from "../../src/service/stored-models.ts";

/** Returns the stored models of a server that serves the model of this configuration. */
export const testStore = ({ modelsDir, model }: Config, hubEndpoint = "http://127.0.0.1:9"): StoredModels =>
  new StoredModels({
    folder: modelsDir,
    hub: () => ({ endpoint: hubEndpoint, userAgent: "svc/test" }),
    inUse: model === undefined ? [] : [model],
    patience: { attempts: 5, firstDelayMs: 1, longestDelayMs: 20, idleMs: 60_000 },
    now: Date.now,
  });
