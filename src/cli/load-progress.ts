// Loading, made visible.

import type { TextPort } from "../engine/text/port.ts";
import { ProgressLine, type ProgressOptions } from "./progress-line.ts";

const LOOK_MS = 100;
const PATIENCE_MS = 2000;
const MEASURE = { amount: () => "", rate: () => "" };

/** Shows progress until `end` is called. */
export function showLoading(engine: TextPort, output: Pick<ProgressOptions, "out" | "format">): { end(): void } {
  const line = new ProgressLine({ ...output, measure: MEASURE, patienceMs: PATIENCE_MS });
  const timer = setInterval(() => {
    const { progress: done = 0, modelId } = engine.status();
    line.show({ name: `loading ${modelId}`, done, total: 1 });
  }, LOOK_MS);
  return {
    end() {
      clearInterval(timer);
      line.end();
    },
  };
}
