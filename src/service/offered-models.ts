// Models that are computed here in engines of their own, as a source of the router.

import type { ListedModel } from "../domain/model.ts";
import type { EmbeddingPort } from "../engine/embedding/port.ts";
import type { ImagePort } from "../engine/image/port.ts";
import type { RecognitionPort } from "../engine/recognition/port.ts";
import type { SpeechPort } from "../engine/speech/port.ts";
import type { TranscriptionPort } from "../engine/transcription/port.ts";
import type { Capability, ModelSource, Served } from "./model-router.ts";

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
export const offeredEmbeddings = (engine: EmbeddingPort, parallel: number): OfferedModel =>
  offered(engine.status().kind === "embed" ? "embeddings" : "rerank", "embedding", engine, parallel, () => {
    const { maxTokens, model } = engine.status();
    return { ...(model && { file: model }), ...(maxTokens !== undefined && { contextLength: maxTokens }) };
  });

/** A model that recognises speech. `parallel`: recordings that are recognised side by side. */
export const offeredTranscription = (engine: TranscriptionPort, parallel: number): OfferedModel =>
  offered("transcription", "transcription", engine, parallel, () => {
    const { model } = engine.status();
    const capabilities = ["transcription", ...(engine.translates ? ["translation"] : [])];
    return { capabilities, ...fileOf(model, `whisper ${model?.size}`) };
  });

/** A model that speaks. `parallel`: texts that are said at once. */
export const offeredSpeech = (engine: SpeechPort, parallel: number): OfferedModel =>
  offered("speech", "speech", engine, parallel);

/** A model that reads pages. `parallel`: pages that are read at once. */
export const offeredRecognition = (engine: RecognitionPort, parallel: number): OfferedModel =>
  offered("ocr", "recognition", engine, parallel);

/** A model that makes images larger, one after the other. */
export const offeredUpscaling = (engine: ImagePort): OfferedModel =>
  offered("upscaling", "image", engine, 1, () => {
    const { model } = engine.status();
    return fileOf(model, model?.family);
  });

/** A model that draws, one image after the other. */
export const offeredImages = (engine: ImagePort): OfferedModel =>
  offered("images", "image", engine, 1, () => {
    const { model, isDemo = model?.isDemo } = engine.status();
    // Most can; what this one can is known when it was loaded.
    const edits = model?.edits.image === false ? [] : ["image_edits"];
    return { capabilities: ["images", ...edits], ...fileOf(model, model?.family), ...(isDemo && { isDemo }) };
  });

/** What every one of them is offered with. `kind`: of its metrics. `known`: what else listings show. */
function offered<Name extends Exclude<Capability, "chat">>(
  capability: Name,
  kind: string,
  engine: NonNullable<Served[Name]>["engine"],
  parallel: number,
  known: () => Partial<ListedModel> = () => ({}),
): OfferedModel {
  const { modelId: id } = engine.status();
  return {
    id,
    served: { [capability]: { model: id, engine, parallel, subject: { kind, model: id } } },
    describe: () => {
      const { created, state } = engine.status();
      return { id, created, ownedBy: "svc", loaded: state === "ready", capabilities: [capability], ...known() };
    },
  };
}

/** Absent before the model was loaded. */
const fileOf = (
  model: { readonly bytes: number; readonly device: string } | undefined,
  description = "",
): Pick<ListedModel, "file"> => (model ? { file: { bytes: model.bytes, device: model.device, description } } : {});
