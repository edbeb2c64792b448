// The embedding engine's part in its own process: loads a model for vectors or scores, and computes.

import { openEmbedder } from "../../../../ffi/llama/embedder.ts";
import { unpacked } from "../../../../ffi/runtime/native-files.ts";
import type { EmbeddingModel } from "../../../domain/embedding.ts";
import { untilLoaded } from "../../process/child.ts";
import type { EngineKind } from "../../process/kind.ts";
import { ABORT_FD } from "../../process/protocol.ts";
import type { EmbeddingEvent, EmbeddingJob } from "../port.ts";
import type { EmbedderOptions } from "../protocol.ts";
import { EmbeddingLoop, TOKENS_AT_ONCE } from "./loop.ts";

/** Most inputs in a batch; llama.cpp's limit is 256. */
const INPUTS_AT_ONCE = 64;

export const embeddingKind: EngineKind<EmbedderOptions, EmbeddingModel, EmbeddingJob, EmbeddingEvent> = {
  async load(options, send) {
    const { libraries, modelPath: path, kind: embedding, maxTokens, ...compute } = options;
    const embedder = openEmbedder(libraries);
    embedder.listenForAborts(ABORT_FD);
    const batch = Math.max(maxTokens, TOKENS_AT_ONCE);
    embedder.loadStart({ ...compute, path: unpacked(path), embedding, batch, sequences: INPUTS_AT_ONCE });
    await untilLoaded(embedder, send);
    const loop = new EmbeddingLoop(embedder, options, send);
    const { architecture, description, parameters, bytes, dimensions, device } = embedder.model();
    return { ready: { architecture, description, parameters, bytes, dimensions, device }, loop };
  },
};
