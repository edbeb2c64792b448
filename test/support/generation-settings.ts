import type { GenerationSettings } from "../../src/dialect/fields/settings.ts";

/** Launch options without influence on requests. */
export const settings: GenerationSettings = {
  stop: [],
  lora: [],
  maxLogprobs: 20,
  templateKwargs: {},
  think: true,
  constrain: true,
  contextShift: false,
};
