// Models in ONNX files, computed by ONNX Runtime as WebAssembly: on one thread, and a computation cannot be interrupted.

import { env, InferenceSession } from "onnxruntime-web/wasm";
import runtime from "onnxruntime-web/ort-wasm-simd-threaded.wasm" with { type: "file" };

/** Loads a model. Throws when it is none. */
export async function loadOnnx(model: Uint8Array): Promise<InferenceSession> {
  env.wasm.numThreads = 1;
  env.wasm.proxy = false;
  env.wasm.wasmBinary = await Bun.file(runtime).arrayBuffer();
  return InferenceSession.create(model, { executionProviders: ["wasm"] });
}
