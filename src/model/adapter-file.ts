// The file of a LoRA adapter: what must be right before it is loaded with its model.

import { basename } from "node:path";
import { ModelFileError, readGguf } from "./gguf.ts";

interface AdapterFile {
  /** Of its weights. */
  readonly bytes: number;
  /** Last change of the file, Unix seconds. */
  readonly modified: number;
  /** What its makers say it is for, and what prompts for it begin with; often nothing. */
  readonly taskName: string;
  readonly promptPrefix: string;
}

/**
 * Reads the header of the adapter at `path` and checks that it can be used with a model of this architecture; whether its
 * tensors fit is known when it is loaded. Takes milliseconds. Throws ModelFileError.
 */
export function readAdapterFile(path: string, architecture: string): AdapterFile {
  const { metadata, tensors, tensorBytes, modified } = readGguf(path);
  const name = basename(path);
  const text = (key: string): string => {
    const value = metadata.get(key);
    return typeof value === "string" ? value : "";
  };
  if (text("general.type") !== "adapter") throw new ModelFileError(`${name} is no LoRA adapter.`);
  if (text("adapter.type") !== "lora") throw new ModelFileError(`${name} is an adapter of another type than LoRA.`);
  const own = text("general.architecture");
  if (own !== architecture) {
    const belongs =
      own === "" ? "does not say which architecture it is for" : `is for models of the architecture ${own}`;
    throw new ModelFileError(`${name} ${belongs}; the model's is ${architecture}.`);
  }
  if (metadata.has("adapter.alora.invocation_tokens")) {
    throw new ModelFileError(`${name} is an activated LoRA, which works from certain tokens on; these cannot be used.`);
  }
  if (tensors === 0) throw new ModelFileError(`${name} has no weights.`);
  const [taskName, promptPrefix] = [text("adapter.lora.task_name"), text("adapter.lora.prompt_prefix")];
  return { bytes: tensorBytes, modified, taskName, promptPrefix };
}
