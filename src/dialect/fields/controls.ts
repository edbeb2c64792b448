// Decodes the fields of chat completions, completions and llama.cpp's routes that say how an answer is generated and sent.

import type { ControlFields } from "../../contract/controls.ts";
import { reportRequest, type RunningReports } from "./running-reports.ts";
import { decodeAdapters } from "./adapters.ts";
import { decodeIdSlot, decodeModel, decodeStop } from "./limits.ts";
import { decodeSampling } from "./sampling.ts";
import type { GenerationSettings } from "./settings.ts";

/** `schema`: what the body was checked against. Throws SvcError naming the invalid field. */
export const decodeControls = (
  body: Partial<ControlFields>,
  schema: { readonly properties: object },
  settings: Pick<GenerationSettings, "lora" | "stop">,
  running: RunningReports,
) => ({
  ...decodeModel(body.model),
  sampling: decodeSampling(body, schema),
  ...decodeAdapters(body, settings),
  stop: decodeStop(body.stop ?? [], settings.stop),
  ...(body.cache_prompt === false && { fresh: true as const }),
  ...decodeIdSlot(body),
  ...(body.t_max_predict_ms && { maxPredictMs: body.t_max_predict_ms }),
  ...reportRequest(running),
});
