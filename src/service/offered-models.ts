// Models that are computed here in engines of their own, as a source of the router.

import type { ImageModel } from "../domain/image.ts";
import type { ListedModel } from "../domain/model.ts";
import type { EmbeddingPort } from "../engine/embedding/port.ts";
import type { ImagePort } from "../engine/image/port.ts";
import type { ProcessState } from "../domain/process-status.ts";
import type { RecognitionPort } from "../engine/recognition/port.ts";
import type { SpeechPort } from "../engine/speech/port.ts";
import type { TranscriptionPort } from "../engine/transcription/port.ts";
import type { Backend, ModelSource, Served } from "./model-router.ts";

/** A model that is loaded on first use: what it can do, and how listings show it. */
export interface OfferedModel {
  readonly id: string;
  readonly served: Served;
  readonly describe: () => ListedModel;
}

export class OfferedModels implements ModelSource {
  private readonly served: ReadonlyMap<string, Served>;

  constructor(private readonly offered: readonly OfferedModel[]) {
    this.served = new Map(offered.map(({ id, served }) => [id, served]));
  }

  models(): readonly ListedModel[] {
    return this.offered.map(({ describe }) => describe());
  }

  find(model: string): Served | undefined {
    return this.served.get(model);
  }
}

/** A model for vectors or rankings. `parallel`: requests to it that are in work at once. */
export function offeredEmbeddings(engine: EmbeddingPort, parallel: number): OfferedModel {
  const { modelId: id, kind } = engine.status();
  const backend: Backend<EmbeddingPort> = { model: id, engine, parallel, subject: { kind: "embedding", model: id } };
  return {
    id,
    served: kind === "embed" ? { embeddings: backend } : { rerank: backend },
    describe: () => {
      const { created, state, maxTokens, model } = engine.status();
      return {
        ...listed(id, created, state, [kind === "embed" ? "embeddings" : "rerank"], model),
        ...(maxTokens !== undefined && { contextLength: maxTokens }),
      };
    },
  };
}

/** A model that recognises speech. `parallel`: recordings that are recognised side by side. */
export function offeredTranscription(engine: TranscriptionPort, parallel: number): OfferedModel {
  const { modelId: id } = engine.status();
  const subject = { kind: "transcription", model: id };
  return {
    id,
    served: { transcription: { model: id, engine, parallel, subject } },
    describe: () => {
      const { created, state, model } = engine.status();
      const file = model && { bytes: model.bytes, device: model.device, description: `whisper ${model.size}` };
      const capabilities = ["transcription", ...(model && model.languages.length < 2 ? [] : ["translation"])];
      return listed(id, created, state, capabilities, file);
    },
  };
}

/** A model that speaks. `parallel`: texts that are said at once. */
export function offeredSpeech(engine: SpeechPort, parallel: number): OfferedModel {
  const { modelId: id } = engine.status();
  return {
    id,
    served: { speech: { model: id, engine, parallel, subject: { kind: "speech", model: id } } },
    describe: () => {
      const { created, state } = engine.status();
      return listed(id, created, state, ["speech"]);
    },
  };
}

/** A model that reads pages. `parallel`: pages that are read at once. */
export function offeredRecognition(engine: RecognitionPort, parallel: number): OfferedModel {
  const { modelId: id } = engine.status();
  return {
    id,
    served: { ocr: { model: id, engine, parallel, subject: { kind: "recognition", model: id } } },
    describe: () => {
      const { created, state } = engine.status();
      return listed(id, created, state, ["ocr"]);
    },
  };
}

/** A model that makes images larger, one after the other. */
export function offeredUpscaling(engine: ImagePort): OfferedModel {
  const { modelId: id } = engine.status();
  return {
    id,
    served: { upscaling: { model: id, engine, parallel: 1, subject: { kind: "image", model: id } } },
    describe: () => {
      const { created, state, model } = engine.status();
      return listed(id, created, state, ["upscaling"], imageFile(model));
    },
  };
}

/** A model that draws, one image after the other. */
export function offeredImages(engine: ImagePort): OfferedModel {
  const { modelId: id } = engine.status();
  return {
    id,
    served: { images: { model: id, engine, parallel: 1, subject: { kind: "image", model: id } } },
    describe: () => {
      const { created, state, model, isDemo = model?.isDemo } = engine.status();
      // Most can; what this one can is known when it was loaded.
      const edits = model?.edits.image === false ? [] : ["image_edits"];
      return {
        ...listed(id, created, state, ["images", ...edits], imageFile(model)),
        ...(isDemo && { isDemo }),
      };
    },
  };
}

/** What every one of them is listed with. `file`: once it was loaded. */
const listed = (
  id: string,
  created: number,
  state: ProcessState,
  capabilities: readonly string[],
  file?: ListedModel["file"],
): ListedModel => ({ id, created, ownedBy: "svc", loaded: state === "ready", capabilities, ...(file && { file }) });

const imageFile = (model: ImageModel | undefined): ListedModel["file"] =>
  model && { bytes: model.bytes, device: model.device, description: model.family };
