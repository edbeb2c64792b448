// What identifies an answer that is begun now.

import type { AnswerOrigin } from "../dialect/fields/answer-origin.ts";
import type { AppDeps } from "./app.ts";

export const answerOrigin = ({ engine, clock, version }: AppDeps, id: string): AnswerOrigin => ({
  id,
  created: Math.floor(clock.wall() / 1000),
  model: engine.status().modelId,
  systemFingerprint: `svc_${version}`,
});
