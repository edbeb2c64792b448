// The dependencies of the HTTP layer.

import type { Config } from "../config/config.ts";
import type { GenerationSettings } from "../dialect/fields/settings.ts";
import type { ByteBudget } from "../domain/byte-budget.ts";
import type { Timers } from "../domain/clock.ts";
import type { Pause } from "../domain/pause.ts";
import type { ObservedEngine } from "../engine/process/status.ts";
import type { TextPort } from "../engine/text/port.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { ModelServices } from "../service/model-services.ts";
import type { StoredModels } from "../service/stored-models.ts";
import type { FewAtOnce } from "../service/few-at-once.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { JsonBodies } from "./json-body.ts";
import type { RequestContexts } from "./request-context.ts";

/** The services that an application consists of. */
export interface AppServices extends ModelServices {
  readonly config: Config;
  /** The engine of the server's own model, which the tokenizer routes use. */
  readonly engine: TextPort;
  /** Returns all engines that run here, for health and metrics. */
  readonly engines: () => readonly ObservedEngine[];
  readonly storedModels: StoredModels;
  /** Other servers whose models are served. */
  readonly upstreams: Pick<Gateway, "status" | "setDraining" | "metrics">;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Timers;
  /** How batches pause before they retry; absent: for the full time. */
  readonly pause?: Pause;
  /** Memory budget for request bodies; absent: the default. */
  readonly bodyBudget?: ByteBudget;
  readonly version: string;
}

/** The services and shared state that routes use. */
export interface AppDeps extends AppServices {
  /** What decoding a request for generation needs. */
  readonly settings: GenerationSettings;
  readonly bodyBudget: ByteBudget;
  readonly bodies: JsonBodies;
  /** Memory budget for answers that clients get only when they are whole. */
  readonly answerBudget: ByteBudget;
  /** The context of each request. */
  readonly contexts: RequestContexts;
  readonly tokenizer: FewAtOnce;
}
