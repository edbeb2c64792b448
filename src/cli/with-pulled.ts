// --pull: downloads the models that options name, unless they are there.

import type { Config } from "../config/config.ts";
import { fileSize } from "../domain/file-size.ts";
import { bytesOf } from "../store/models/model-store.ts";
import { DownloadLine } from "./download-line.ts";
import { downloadModel } from "./download-model.ts";
import { ExitError } from "./exit-codes.ts";
import { MissingModelError } from "./named-model.ts";
import { progressOutput } from "./terminal.ts";

/**
 * Returns what `read` returns. With --pull, a model that it misses is downloaded, and `read` is called again. `before` is
 * called before the first download. Throws as `read`, `before` and `downloadModel` do.
 */
export async function withPulled<T>(
  config: Config,
  read: () => T | Promise<T>,
  before: () => void | Promise<void> = () => {},
): Promise<T> {
  const names = new Map<string, string>();
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!config.pull || !(error instanceof MissingModelError)) throw error;
      const { operand } = error;
      const name = names.get(operand);
      if (name !== undefined) throw new ExitError("model", `${operand} was downloaded as ${name}: use that name.`);
      if (names.size === 0) await before();
      const { manifest, changed } = await downloadModel(config, operand);
      names.set(operand, manifest.name);
      const done = `${manifest.name}: ${fileSize(bytesOf(manifest))} downloaded.`;
      if (changed) new DownloadLine(progressOutput(config)).note(done);
    }
  }
}
