// `svc pull component:NAME`: downloads a component that svc-slim lacks.

import { dirname } from "node:path";
import { embedded } from "../../ffi/runtime/embedded.ts";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import { errorMessage } from "../domain/error-message.ts";
import { componentOperand } from "../store/models/short-names.ts";
import { fetchComponent } from "./components.ts";
import { runDownload } from "./download-command.ts";
import { ExitError, orExit } from "./exit-codes.ts";

/** Downloads a component unless it is there. Throws ExitError. */
export function pullComponent(config: Config, name: string): Promise<void> {
  const component = embedded?.find((candidate) => candidate.name === name);
  if (!component || component.archive !== undefined) {
    const missing = (embedded ?? []).filter(({ archive }) => archive === undefined).map((other) => other.name);
    const which = missing.length === 0 ? "This svc has all components inside" : `This svc lacks ${missing.join(", ")}`;
    throw new ExitError("usage", `${which}; there is no other to download.`);
  }
  const parent = dirname(orExit(() => nativeFiles(config.cacheDir), errorMessage).libraries);
  const operand = componentOperand(name);
  return runDownload({
    config,
    onInterrupt: `svc pull ${operand} continues where this download stopped.`,
    async work(progress, signal) {
      const { bytes: total } = component;
      await fetchComponent(component, parent, config, {
        signal,
        progress: (received) => progress.showDownload({ name: operand, received, total, waiting: false }),
        note: (text) => progress.note(text),
      });
      return `${operand}: it is installed and used from now on.`;
    },
  });
}
