// The opened llama shim: what the bindings for text models and embedding models have in common.

import { NativeLibrary } from "../runtime/library.ts";
import { LLAMA_ERRORS, LlamaError, type LlamaErrorCode } from "./api.ts";
import { ABI_VERSION, symbols } from "./symbols.ts";

const shim = { name: "llama", abi: ABI_VERSION, symbols, errors: LLAMA_ERRORS, Failure: LlamaError };

export abstract class LlamaLibrary<Config> extends NativeLibrary<typeof symbols, LlamaErrorCode> {
  /** Also loads the compute backends in `directory`. Throws LlamaError. */
  constructor(directory: string) {
    super(directory, shim);
    this.check(this.native.svc_init(directory), "initialise");
  }

  loadStart(config: Config): void {
    const json = this.json(config);
    this.check(this.native.svc_load_start(json, json.length), "start loading");
  }
}
