// Offers local models that have engines of their own to the router.

import type { ListedModel } from "../domain/model.ts";
import { loadedIn } from "../domain/process-status.ts";
import type { EmbeddingPort } from "../engine/embedding/port.ts";
import type { ImagePort } from "../engine/image/port.ts";
import type { RecognitionPort } from "../engine/recognition/port.ts";
import type { SpeechPort } from "../engine/speech/port.ts";
import type { TranscriptionPort } from "../engine/transcription/port.ts";
import type { Capability, ModelSource, Served } from "./model-router.ts";

/** A local model: its names, its backends, and its entry in listings. */
export interface OfferedModel {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly served: Served;
  readonly describe: () => ListedModel;
}

export class OfferedModels implements ModelSource {
  private readonly served: ReadonlyMap<string, Served>;

  constructor(private readonly offered: readonly OfferedModel[]) {
    const named = offered.flatMap(({ id, aliases = [], served }) =>
      [id, ...aliases].map((name) => [name, served] as const),
    );
    // A chat model and an embedding model may have one name. Of equal names for one capability, the first counts.
    const served = new Map<string, Served>();
    for (const [name, backends] of named) served.set(name, { ...backends, ...served.get(name) });
    this.served = served;
  }

  models(capability?: Capability): readonly ListedModel[] {
    const able = this.offered.filter(({ served }) => capability === undefined || served[capability]);
    return able.map(({ describe }) => describe());
  }

  find(model: string): Served | undefined {
    return this.served.get(model);
  }
}

/** Offers a model for vectors or rankings. `parallel`: requests that it processes concurrently. */
export const offeredEmbeddings = (engine: EmbeddingPort, parallel: number): OfferedModel =>
  offered(engine.status().kind === "embed" ? "embeddings" : "rerank", "embedding", engine, parallel, () => {
    const { maxTokens, model } = engine.status();
    return { ...(model && { file: model }), ...(maxTokens !== undefined && { contextLength: maxTokens }) };
  });

/** Offers a model that recognises speech. `parallel`: recordings that it recognises concurrently. */
export const offeredTranscription = (engine: TranscriptionPort, parallel: number): OfferedModel =>
  offered("transcription", "transcription", engine, parallel, () => {
    const { model } = engine.status();
    const capabilities = ["transcription", ...(engine.translates ? ["translation"] : [])];
    return { capabilities, ...fileOf(model, `whisper ${model?.size}`) };
  });

/** Offers a speech model. `parallel`: texts that it speaks concurrently. */
export const offeredSpeech = (engine: SpeechPort, parallel: number): OfferedModel =>
  offered("speech", "speech", engine, parallel);

/** Offers a model that reads pages. `parallel`: pages that it reads concurrently. */
export const offeredRecognition = (engine: RecognitionPort, parallel: number): OfferedModel =>
  offered("ocr", "recognition", engine, parallel);

/** Offers a model that upscales images, one at a time. */
export const offeredUpscaling = (engine: ImagePort): OfferedModel =>
  offered("upscaling", "image", engine, 1, () => {
    const { model } = engine.status();
    return fileOf(model, model?.family);
  });

/** Offers a model that draws images, one at a time. */
export const offeredImages = (engine: ImagePort): OfferedModel =>
  offered("images", "image", engine, 1, () => {
    const { model, isDemo = model?.isDemo } = engine.status();
    return { capabilities: ["images", "image_edits"], ...fileOf(model, model?.family), ...(isDemo && { isDemo }) };
  });

/** Makes the offer of a model. `kind` labels its metrics; `known` returns further fields for listings. */
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
      return { id, created, ownedBy: "svc", ...loadedIn(state), capabilities: [capability], ...known() };
    },
  };
}

/** Returns the `file` field of listings; empty until the model is loaded. */
const fileOf = (
  model: { readonly bytes: number; readonly device: string } | undefined,
  description = "",
): Pick<ListedModel, "file"> => (model ? { file: { bytes: model.bytes, device: model.device, description } } : {});
