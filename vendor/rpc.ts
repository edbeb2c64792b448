// Compiles llama.cpp's RPC backend as a library of the set, because the published libraries do not include it.

import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { inParallel, run } from "./run.ts";
import { linkedLibraries } from "./shim.ts";
import { beside, compiler, CXX_FLAGS, forWindows, LINK_FLAGS, SOCKETS } from "./target.ts";

const source = join(import.meta.dir, "../ffi/rpc/backend.cpp");
/** The defines of llama.cpp's own build for a backend that is loaded at run time. */
const DEFINES = ["GGML_BACKEND_DL", "GGML_BACKEND_BUILD", "GGML_BACKEND_SHARED"].map((name) => `-D${name}`);

/** llama.cpp reads the tensors of a message in place, aligned or not; the sanitizers must not report that. */
const UNALIGNED = "-fno-sanitize=alignment";

/**
 * Compiles the backend into `folder`, which has the libraries of ggml. Throws BuildError with the compiler's messages.
 */
export async function compileRpcBackend(sources: string, flags: readonly string[], folder: string): Promise<void> {
  const includes = ["ggml/include", "ggml/src"].flatMap((name) => ["-isystem", join(sources, name)]);
  const base = linkedLibraries(folder).filter((path) => basename(path).includes("ggml-base."));
  const output = ["-o", join(folder, forWindows ? "ggml-rpc.dll" : "libggml-rpc.so")];
  const link = [...LINK_FLAGS, ...beside, ...base, ...SOCKETS];
  const command = [
    compiler,
    ...CXX_FLAGS,
    "-O3",
    ...flags,
    UNALIGNED,
    ...DEFINES,
    ...includes,
    source,
    ...link,
    ...output,
  ];
  await inParallel([command], (words) => run(words));
}

/** Returns the content of the files here that the backend depends on. */
export const rpcFingerprint = (): unknown => [source, import.meta.path].map((path) => readFileSync(path, "utf8"));
