// Launch options that shape requests, whatever their dialect.

import type { JsonSchema } from "../../domain/generate.ts";
import type { ReasoningSettings } from "../../domain/reasoning.ts";
import type { AdapterSettings } from "./adapters.ts";

export interface GenerationSettings extends ReasoningSettings, AdapterSettings {
  readonly stop: readonly string[];
  readonly maxLogprobs: number;
  readonly maxTokens?: number;
  /** Schema of the answers to requests that name no format. */
  readonly guidedJson?: JsonSchema;
  /** Whether streams that do not say have a usage chunk; absent: they have. */
  readonly streamUsage?: "default" | "requested";
  /** False: schemas are stated in the prompt instead of being enforced. */
  readonly constrain: boolean;
  /** Older tokens of a full context are dropped. */
  readonly contextShift: boolean;
}
