// Shows the progress of loading a model.

import { errorMessage } from "../domain/error-message.ts";
import type { ModelInfo } from "../domain/model.ts";
import type { TextPort } from "../engine/text/port.ts";
import type { TextEngine } from "../engine/text/text-engine.ts";
import { ExitError } from "./exit-codes.ts";
import { LOOK_MS, ProgressLine, type ProgressOptions } from "./progress-line.ts";

const PATIENCE_MS = 2000;
/** How the engine begins what it says about the value of an option. */
const IS_ABOUT_OPTION = /^--[a-z-]+: /;
const MEASURE = { amount: () => "", rate: () => "" };

interface Shown {
  end(): void;
}

/** Shows progress until `end` is called on the returned object. */
export function showLoading(engine: TextPort, output: Pick<ProgressOptions, "out" | "format">): Shown {
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

/** Resolves to the model when it is loaded, and ends the progress in `shown`. Throws ExitError when loading fails. */
export async function loaded(engine: TextEngine, shown: Shown | undefined): Promise<ModelInfo> {
  try {
    return await engine.ready();
  } catch (error) {
    const message = errorMessage(error);
    throw new ExitError(IS_ABOUT_OPTION.test(message) ? "usage" : "model", message);
  } finally {
    shown?.end();
  }
}
