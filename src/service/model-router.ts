// Chooses the backend for a request: the one whose model the request names, among those with the required capability.

import { fieldError, SvcError } from "../domain/errors.ts";
import type { GenerateRequest, Generation } from "../domain/generate.ts";
import type { MediaKind } from "../domain/media.ts";
import type { ListedModel } from "../domain/model.ts";
import type { Unloadable } from "../domain/process-status.ts";
import type { EmbeddingPort } from "../engine/embedding/port.ts";
import type { ImagePort } from "../engine/image/port.ts";
import type { RecognitionPort } from "../engine/recognition/port.ts";
import type { SpeechPort } from "../engine/speech/port.ts";
import type { TextPort } from "../engine/text/port.ts";
import type { TranscriptionPort } from "../engine/transcription/port.ts";
import type { MetricSubject } from "../telemetry/metrics.ts";

/** The engine that computes one model, and its limits. */
export interface Backend<Engine = TextPort> {
  /** The model's name as answers give it. */
  readonly model: string;
  readonly engine: Engine;
  /** Requests computed concurrently; up to `--max-queue` more may wait. */
  readonly parallel: number;
  /** The subject whose metrics count its requests; absent: the server's own model. */
  readonly subject?: MetricSubject;
  /**
   * Set for a name in no list, which the client may have invented: the upstream that would compute it. All such names
   * share its places.
   */
  readonly unlistedAt?: object;
  /** true: the backend itself honours or refuses fields for other servers. */
  readonly takesForeignFields?: boolean;
}

export interface TextBackend extends Backend {
  /** true: the backend gets images and sounds undecoded, as the client sent them or as data: URLs of fetched images. */
  readonly takesMediaSources?: boolean;
  /** With `takesMediaSources`: whether the backend is known to take no media of this kind. */
  readonly lacks?: (kind: MediaKind) => boolean;
  /**
   * Returns whether the backend enforces everything strict that a grammar can express; absent: grammars are used as the
   * server's options say.
   */
  readonly enforces?: (request: Generation) => boolean;
  /** Set when the model offers less than its engine. */
  readonly surface?: {
    /** Returns the supported part of a request. Throws SvcError `unsupported_parameter`. */
    readonly narrow: (request: GenerateRequest) => GenerateRequest;
    /** Thrown when its tokenizer would be needed. */
    readonly noTokenizer: SvcError;
  };
}

/** The backend type for each capability; capabilities have the names used in listings. */
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

/** The backends of one model, by capability. */
export type Served = { readonly [C in Capability]?: Backends[C] | undefined };

/** A group of backends, such as the local engines, other servers, or a cluster. */
export interface ModelSource {
  /** Returns the models to list, in a stable order. With a capability, models without it may be left out. */
  models(capability?: Capability): readonly ListedModel[];
  /** Returns the backends of a model of this name, the same objects at every call; undefined if the name is unknown. */
  find(model: string): Served | undefined;
  /** Returns the name of the model that a name means which no source has. */
  fullName?(name: string): string | undefined;
  /** Returns whether the name can only mean a model of this source, even if the source has no such model. */
  claims?(model: string): boolean;
  /**
   * For work that can wait: returns whether a name that the source does not know may be that of a model which it has
   * not seen listed yet. Some minutes after the start, none may.
   */
  mayKnow?(): boolean;
  /** Called when the list is requested: brings the source's models up to date, in the background where that takes long. */
  refresh?(): void;
}

/** For each capability, what its model is called and how to add one. */
const WANTED = {
  embeddings: ["embedding model", "Start svc with --embedding-model to serve one."],
  rerank: ["reranker", "Start svc with --rerank-model to serve one."],
  transcription: [
    "transcription model",
    "Start svc with --transcription-model to serve one. From source, run npm run build:media first, which also makes one.",
  ],
  speech: ["speech model", "This build was made without one."],
  ocr: ["model for text recognition", "This build was made without one."],
  images: [
    "image model",
    "Start svc with --image-model to serve one. From source, run npm run build:media first, which also makes one.",
  ],
  upscaling: [
    "upscaling model",
    "Start svc with --image-upscale-model to serve one; svc pull realesrgan downloads one.",
  ],
} as const;

const CAPABILITIES = ["chat", ...(Object.keys(WANTED) as (keyof typeof WANTED)[])] as const;

const byLoaded = (a: ListedModel, b: ListedModel): number => Number(b.loaded) - Number(a.loaded);

/** Returns whether this is a model's name or one of its aliases. */
export const isNamed = ({ id, aliases }: ListedModel, name: string): boolean =>
  id === name || (aliases?.includes(name) ?? false);

/** Capabilities that accept any model name: clients send names of other services' models and mean the local one. */
const TAKES_ANY_NAME: ReadonlySet<Capability> = new Set(["transcription", "speech", "ocr", "images", "upscaling"]);

const NOT_THERE =
  "begins with the name of an upstream that offers no such model on this route; GET /v1/models lists them";

const NO_CHATS =
  "No chat model is served here at the moment. GET /v1/models lists the models that requests can name; --chat-model, --pulled-models and --upstream add chat models.";

export class ModelRouter {
  /**
   * Sources come in order of precedence. `active` answers chats that name no model or an unknown one. Without it, the
   * first local model that can chat, else the first listed one, answers the former, and the latter are refused.
   */
  constructor(
    private readonly sources: readonly ModelSource[],
    private readonly active: Served = {},
  ) {}

  /**
   * Returns the backend for a request. Throws SvcError `model_not_found`, `engine_unavailable` when there is no model
   * of a kind that accepts any name, or `upstream_unavailable` when there is no chat model at all.
   */
  find<C extends Capability>(model: string | undefined, capability: C): Backends[C] {
    const named = model === undefined ? undefined : this.named(model, capability);
    if (!named && model !== undefined && this.sources.some((source) => source.claims?.(model))) {
      throw fieldError("model_not_found", "model", NOT_THERE);
    }
    const found = named ?? this.usual(capability, model);
    if (found) return found;
    if (model === undefined && capability === "chat") {
      throw new SvcError("upstream_unavailable", NO_CHATS, { retryAfterSeconds: 5 });
    }
    throw this.notFound(model, capability);
  }

  /**
   * For work that can wait: throws SvcError `upstream_unavailable` about a name that `find` would take for unknown, or
   * for another model's, while a source may still come to know it.
   */
  awaitNamed(model: string, capability: Capability): void {
    if (this.named(model, capability) || !this.sources.some((source) => source.mayKnow?.())) return;
    const message = "No model has this name so far, but not every upstream has listed its models yet.";
    throw new SvcError("upstream_unavailable", message, { param: "model", retryAfterSeconds: 5 });
  }

  /** Returns the backends that may answer a request: the named one, else all by precedence. Throws as `find` does. */
  findAll<C extends Capability>(model: string | undefined, capability: C): readonly Backends[C][] {
    const named = model === undefined ? undefined : this.named(model, capability);
    if (named) return [named];
    const listed = this.listed(capability).flatMap(({ id }) => this.named(id, capability) ?? []);
    return [...new Set([this.find(model, capability), ...listed])];
  }

  /** Returns the default backend, for requests without `model` or with an unknown one; undefined if none. */
  usual<C extends Capability>(capability: C, model?: string): Backends[C] | undefined {
    const active = this.active[capability];
    if (active) return active;
    if (model !== undefined && !TAKES_ANY_NAME.has(capability)) return undefined;
    const listed = this.listed(capability);
    return listed[0] && this.named(listed[0].id, capability);
  }

  /**
   * Returns the models of all sources, loaded ones first, each name once. `computedHere` leaves out models of other
   * servers and those that every svc has: another svc would otherwise offer them a second time.
   */
  models(computedHere = false): ListedModel[] {
    const byName = new Map<string, ListedModel>();
    for (const model of this.sources.flatMap((source) => source.models())) {
      if (!byName.has(model.id) && !(computedHere && (model.remote || model.everywhere))) byName.set(model.id, model);
    }
    return [...byName.values()].toSorted(byLoaded);
  }

  /**
   * Returns which of these listed models a name means for any of the capabilities, the first one first; without a name,
   * or for an unknown one, the default model of the first. Throws as `find` does.
   */
  describe(
    name: string | undefined,
    capabilities: readonly [Capability, ...Capability[]],
    models: readonly ListedModel[],
  ): ListedModel | undefined {
    const listed = (id: string | undefined) => models.find((model) => id !== undefined && isNamed(model, id));
    const own = listed(name);
    if (own || name === undefined) return own ?? listed(this.find(name, capabilities[0]).model);
    const meant = capabilities.map((capability) => this.named(name, capability)).find((backend) => backend);
    return listed((meant ?? this.find(name, capabilities[0])).model);
  }

  /**
   * Unloads the model of this name unless it is working or always loaded; resolves with its name and whether it is
   * unloaded. An unknown name means the model that chats go to. Throws as `find` does.
   */
  async unload(name: string | undefined): Promise<{ readonly model: string; readonly isUnloaded: boolean }> {
    const backends = CAPABILITIES.flatMap((capability): Backend<Unloadable>[] => {
      const named = name === undefined ? undefined : this.named(name, capability);
      return named ? [named] : [];
    });
    const [first = this.find(name, "chat"), ...others] = backends;
    const unloaded = await Promise.all(
      [first, ...others].map(async ({ engine }) => (await engine.unloadIdle?.()) ?? false),
    );
    return { model: first.model, isUnloaded: unloaded.every((isUnloaded) => isUnloaded) };
  }

  /** Called when the list is requested: sources refresh in the background, for the next request. */
  refresh(): void {
    for (const source of this.sources) source.refresh?.();
  }

  private named<C extends Capability>(model: string, capability: C): Backends[C] | undefined {
    return this.lookUp(model, capability) ?? this.lookUp(this.wholeName(model, capability), capability);
  }

  private lookUp<C extends Capability>(name: string | undefined, capability: C): Backends[C] | undefined {
    if (name === undefined) return undefined;
    for (const source of this.sources) {
      const backend = source.find(name)?.[capability];
      if (backend) return backend;
    }
    return undefined;
  }

  private wholeName(model: string, capability: Capability): string | undefined {
    const [full] = this.sources.flatMap((source) => source.fullName?.(model) ?? []);
    return this.vectorName(model, capability) ?? full;
  }

  /**
   * Returns the name of the only vector model that has a name in other letters or with a tag (`all-minilm-l6-v2:latest`),
   * otherwise of the only one that begins with it: `all-minilm`, `all-minilm:latest`.
   */
  private vectorName(model: string, capability: Capability): string | undefined {
    if (capability !== "embeddings" && capability !== "rerank") return undefined;
    const [short = ""] = model.toLowerCase().split(":");
    const ids = [...new Set(this.listed(capability).map(({ id }) => id))];
    const same = ids.filter((id) => [model.toLowerCase(), short].includes(id.toLowerCase()));
    const found = same.length > 0 ? same : ids.filter((id) => id.toLowerCase().startsWith(`${short}-`));
    return short !== "" && found.length === 1 ? found[0] : undefined;
  }

  /**
   * Returns the models with a capability: local ones in the order of their sources, because which one is the default must
   * not depend on what is loaded, then for chats the remote ones, loaded ones first. Vectors of different models cannot be
   * compared, so other capabilities never fall back to remote models.
   */
  private listed(capability: Capability): ListedModel[] {
    const all = this.sources.flatMap((source) => source.models(capability));
    const able = all.filter(({ capabilities }) => capabilities.includes(capability));
    const local = able.filter(({ remote }) => !remote);
    return capability === "chat" ? [...local, ...able.filter(({ remote }) => remote).toSorted(byLoaded)] : local;
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
