// Launch options that affect requests of all dialects.

import type { JsonSchema } from "../../domain/generate.ts";
import type { ReasoningSettings } from "../../domain/reasoning.ts";
import { PreparedSchemas } from "../../json-schema/prepared-schemas.ts";
import type { AdapterSettings } from "./adapters.ts";

export interface GenerationSettings extends ReasoningSettings, AdapterSettings {
  readonly stop: readonly string[];
  readonly maxLogprobs: number;
  readonly maxTokens?: number;
  /** Schema for answers to requests without a format. */
  readonly guidedJson?: JsonSchema;
  /** Whether a stream has a usage chunk when its request does not set this; absent: it has one. */
  readonly streamUsage?: "default" | "requested";
  /** False: schemas and required tool calls are stated in the prompt instead of being enforced. */
  readonly constrain: boolean;
  /** Whether older tokens of a full context are dropped. */
  readonly contextShift: boolean;
  /** Of tools of earlier requests; absent: all are prepared anew. */
  readonly preparedSchemas?: PreparedSchemas;
}

/** Returns the settings of an application, in which requests share what they have prepared. */
export const settingsOf = (options: GenerationSettings): GenerationSettings => ({
  ...options,
  preparedSchemas: new PreparedSchemas(),
});
