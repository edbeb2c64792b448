// Identifies an answer that begins now.

import type { AnswerOrigin } from "../dialect/fields/answer-head.ts";
import { unixSeconds } from "../domain/clock.ts";
import type { AppDeps } from "./deps.ts";

/** Returns the origin. `model`: the name in the request. Throws SvcError when no backend can answer. */
export const answerOrigin = ({ router, clock, version }: AppDeps, id: string, model?: string): AnswerOrigin => ({
  id,
  created: unixSeconds(clock),
  model: router.find(model, "chat").model,
  systemFingerprint: `svc_${version}`,
});
