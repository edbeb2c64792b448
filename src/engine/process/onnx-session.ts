// Runs ONNX models with ONNX Runtime as WebAssembly: single-threaded, and a computation cannot be interrupted.

import { env, InferenceSession } from "onnxruntime-web/wasm";
import runtime from "onnxruntime-web/ort-wasm-simd-threaded.wasm" with { type: "file" };

/** Loads a model. Throws when the bytes are not an ONNX model. */
export async function loadOnnx(model: Uint8Array): Promise<InferenceSession> {
  env.wasm.numThreads = 1;
  env.wasm.proxy = false;
  env.wasm.wasmBinary = await Bun.file(runtime).arrayBuffer();
  return InferenceSession.create(model, { executionProviders: ["wasm"] });
}
