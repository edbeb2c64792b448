// What identifies an answer that is begun now.

import type { AnswerOrigin } from "../dialect/fields/answer-origin.ts";
import type { GenerateRequest } from "../domain/generate.ts";
import type { AppDeps } from "./app.ts";

/** `adapterName`: the adapter that was asked for by name, if one was. */
export const answerOrigin = (
  { engine, clock, version }: AppDeps,
  id: string,
  { adapterName }: Pick<GenerateRequest, "adapterName">,
): AnswerOrigin => ({
  id,
  created: Math.floor(clock.wall() / 1000),
  model: adapterName ?? engine.status().modelId,
  systemFingerprint: `svc_${version}`,
});
