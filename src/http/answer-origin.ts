// What identifies an answer that is begun now.

import type { AnswerOrigin } from "../dialect/fields/answer-origin.ts";
import { unixSeconds } from "../domain/clock.ts";
import type { AppDeps } from "./deps.ts";

/** `model`: what the request names. Throws SvcError when no backend can answer it. */
export const answerOrigin = ({ router, clock, version }: AppDeps, id: string, model?: string): AnswerOrigin => ({
  id,
  created: unixSeconds(clock),
  model: router.find(model, "chat").model,
  systemFingerprint: `svc_${version}`,
});
