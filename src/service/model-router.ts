// Which backend answers a request: the one whose model it names, among those that can do what is requested.

import { fieldError, SvcError } from "../domain/errors.ts";
import type { GenerateRequest } from "../domain/generate.ts";
import type { MediaKind } from "../domain/media.ts";
import type { ListedModel } from "../domain/model.ts";
import type { EmbeddingPort } from "../engine/embedding/port.ts";
import type { ImagePort } from "../engine/image/port.ts";
import type { RecognitionPort } from "../engine/recognition/port.ts";
import type { SpeechPort } from "../engine/speech/port.ts";
import type { TextPort } from "../engine/text/port.ts";
import type { TranscriptionPort } from "../engine/transcription/port.ts";
import type { MetricSubject } from "../telemetry/metrics.ts";

/** What computes one model. */
export interface Backend<Engine = TextPort> {
  /** The model's name in answers. */
  readonly model: string;
  readonly engine: Engine;
  /** Requests that are computed at once; as many as `--max-queue` says may wait beyond these. */
  readonly parallel: number;
  /** Whose metrics its requests count for; absent: those of the server's own model. */
  readonly subject?: MetricSubject;
  /** true: it honours or refuses fields that are for other servers. */
  readonly takesForeignFields?: boolean;
}

export interface TextBackend extends Backend {
  /** true: pictures and sound go to it as the client sent them, and what they are is its own affair. */
  readonly takesMediaSources?: boolean;
  /** With `takesMediaSources`: whether it is known to take none of this kind. */
  readonly lacks?: (kind: MediaKind) => boolean;
  /** A narrower surface than the engine's. */
  readonly surface?: {
    /** What of a request is honoured. Throws SvcError `unsupported_parameter`. */
    readonly narrow: (request: GenerateRequest) => GenerateRequest;
    /** Thrown where its tokenizer would be needed. */
    readonly noTokenizer: SvcError;
  };
}

/** What a backend can do, by the names of listings, and the port by which it does it. */
interface Backends {
  readonly chat: TextBackend;
  readonly embeddings: Backend<EmbeddingPort>;
  readonly rerank: Backend<EmbeddingPort>;
  readonly transcription: Backend<TranscriptionPort>;
  readonly speech: Backend<SpeechPort>;
  readonly ocr: Backend<RecognitionPort>;
  readonly images: Backend<ImagePort>;
  readonly upscaling: Backend<ImagePort>;
}
export type Capability = keyof Backends;

/** The backends of one model, by what it can do. */
export type Served = { readonly [C in Capability]?: Backends[C] | undefined };

/** Backends with something in common: the engines here, other servers, a cluster. */
export interface ModelSource {
  /** What this source lists, in a stable order. */
  models(): readonly ListedModel[];
  /** What a model of this name can do here; undefined when it is not known. The same backends at every call. */
  find(model: string): Served | undefined;
  /** The list is requested: looks in the background whether it is still right. */
  refresh?(): void;
}

/** What a model with this capability is called, and how the server comes to have one. */
const WANTED = {
  embeddings: ["embedding model", "The server's option --embedding-model names one."],
  rerank: ["reranker", "The server's option --rerank-model names one."],
  transcription: [
    "transcription model",
    "The server's option --transcription-model names one; run from source, it needs npm run build:media first, which also makes one.",
  ],
  speech: ["speech model", "This build was made without one."],
  ocr: ["model for text recognition", "This build was made without one."],
  images: [
    "image model",
    "The server's option --image-model names one; run from source, it needs npm run build:media first, which also makes one.",
  ],
  upscaling: [
    "upscaling model",
    "The server's option --image-upscale-model names one; svc pull realesrgan downloads one.",
  ],
} as const;

/** Clients name other services' models of these kinds, and mean whatever is here. */
const TAKES_ANY_NAME: ReadonlySet<Capability> = new Set(["transcription", "speech", "ocr", "images", "upscaling"]);

export class ModelRouter {
  /**
   * Sources come in the order of their precedence. `active` answers chats that name no model, or one that nobody knows;
   * without it the first model of the list that can chat answers the former, and the latter are refused.
   */
  constructor(
    private readonly sources: readonly ModelSource[],
    private readonly active: Served = {},
  ) {}

  /**
   * The backend for a request. Throws SvcError `model_not_found`, `engine_unavailable` when there is none of a kind whose
   * models go by any name, or `upstream_unavailable` when there is no model to chat with at all.
   */
  find<C extends Capability>(model: string | undefined, capability: C): Backends[C] {
    const found = (model === undefined ? undefined : this.named(model, capability)) ?? this.usual(capability, model);
    if (found) return found;
    if (model === undefined && capability === "chat") {
      throw new SvcError("upstream_unavailable", "No model is served here at the moment.", { retryAfterSeconds: 5 });
    }
    throw this.notFound(model, capability);
  }

  /** The backends that may answer a request: the one that it names, else all in the order of their precedence. Throws as `find`. */
  findAll<C extends Capability>(model: string | undefined, capability: C): readonly Backends[C][] {
    const named = model === undefined ? undefined : this.named(model, capability);
    if (named) return [named];
    const listed = this.listed(capability).flatMap(({ id }) => this.named(id, capability) ?? []);
    return [...new Set([this.find(model, capability), ...listed])];
  }

  /** What answers requests that name no model, or as `model` one that is not known here. */
  usual<C extends Capability>(capability: C, model?: string): Backends[C] | undefined {
    const active = this.active[capability];
    if (active) return active;
    if (model !== undefined && !TAKES_ANY_NAME.has(capability)) return undefined;
    const listed = this.listed(capability);
    return listed[0] && this.named(listed[0].id, capability);
  }

  /**
   * The models of all sources, each name once: what is loaded comes first. `computedHere` leaves out those of other
   * servers: the list for another svc, which would offer them a second time.
   */
  models(computedHere = false): ListedModel[] {
    const byName = new Map<string, ListedModel>();
    for (const model of this.sources.flatMap((source) => source.models())) {
      if (!byName.has(model.id) && !(computedHere && (model.remote || model.everywhere))) byName.set(model.id, model);
    }
    return [...byName.values()].toSorted((a, b) => Number(b.loaded) - Number(a.loaded));
  }

  /** The list is requested: sources that may be out of date look again, for the next time. */
  refresh(): void {
    for (const source of this.sources) source.refresh?.();
  }

  private named<C extends Capability>(model: string, capability: C): Backends[C] | undefined {
    for (const name of [model, this.wholeName(model, capability)]) {
      if (name === undefined) continue;
      for (const source of this.sources) {
        const backend = source.find(name)?.[capability];
        if (backend) return backend;
      }
    }
    return undefined;
  }

  /** The only vector model that a short name, with or without a tag, is the beginning of: `all-minilm`, `all-minilm:latest`. */
  private wholeName(model: string, capability: Capability): string | undefined {
    if (capability !== "embeddings" && capability !== "rerank") return undefined;
    const [short = ""] = model.toLowerCase().split(":");
    const found = this.listed(capability).filter(({ id }) => id.toLowerCase().startsWith(`${short}-`));
    return short !== "" && found.length === 1 ? found[0]?.id : undefined;
  }

  /** Vectors of different models cannot be compared: which one answers must not depend on what is loaded, or far away. */
  private listed(capability: Capability): ListedModel[] {
    const models = capability === "chat" ? this.models() : this.sources.flatMap((source) => source.models());
    return models.filter(
      ({ capabilities, remote }) => capabilities.includes(capability) && (capability === "chat" || !remote),
    );
  }

  private notFound(model: string | undefined, capability: Capability): SvcError {
    if (capability === "chat") {
      return fieldError("model_not_found", "model", "names no model of this server; GET /v1/models lists them");
    }
    const [noun, remedy] = WANTED[capability];
    const names = this.listed(capability).map(({ id }) => id);
    const hint = names.length === 0 ? remedy : `Served: ${names.join(", ")}.`;
    if (TAKES_ANY_NAME.has(capability)) return new SvcError("engine_unavailable", `There is no ${noun}. ${hint}`);
    const missing = `There is no ${noun}${model === undefined ? "" : " of this name"}.`;
    return new SvcError("model_not_found", `${missing} ${hint}`, { param: "model" });
  }
}
