// Checks the file of a LoRA adapter before it is loaded with its model.

import { basename } from "node:path";
import type { Adapter, OfferedAdapter } from "../domain/adapters.ts";
import { ModelFileError, readGguf } from "./gguf.ts";

/**
 * Reads the header of the adapter at `path` and checks that a model of this architecture can use it; whether the
 * tensors fit is known only when the adapter is loaded. Takes milliseconds. Throws ModelFileError.
 */
export function readAdapterFile(path: string, architecture: string): Omit<OfferedAdapter, keyof Adapter> {
  const { metadata, tensors, tensorBytes, modified } = readGguf(path);
  const name = basename(path);
  const text = (key: string): string => {
    const value = metadata.get(key);
    return typeof value === "string" ? value : "";
  };
  if (text("general.type") !== "adapter") throw new ModelFileError(`${name} is not a LoRA adapter.`);
  if (text("adapter.type") !== "lora") throw new ModelFileError(`${name} is an adapter of another type than LoRA.`);
  const own = text("general.architecture");
  if (own !== architecture) {
    const belongs =
      own === "" ? "does not say which architecture it is for" : `is for models of the architecture ${own}`;
    throw new ModelFileError(`${name} ${belongs}; the model's is ${architecture}.`);
  }
  if (metadata.has("adapter.alora.invocation_tokens")) {
    throw new ModelFileError(
      `${name} is an activated LoRA, which takes effect from certain tokens on; such adapters are not supported.`,
    );
  }
  if (tensors === 0) throw new ModelFileError(`${name} has no weights.`);
  const [taskName, promptPrefix] = [text("adapter.lora.task_name"), text("adapter.lora.prompt_prefix")];
  return { bytes: tensorBytes, created: modified, taskName, promptPrefix };
}
