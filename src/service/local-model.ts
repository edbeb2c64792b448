// Offers the local engine's model to the router, and its LoRA adapters as models of their own.

import type { MediaKind } from "../domain/media.ts";
import type { ListedModel, ModelInfo } from "../domain/model.ts";
import { loadedIn } from "../domain/process-status.ts";
import type { TextPort, TextStatus } from "../engine/text/port.ts";
import { ModelRouter, type ModelSource, type Served, type TextBackend } from "./model-router.ts";

/** Capabilities that every local chat model has; clients choose features by them. */
const ALWAYS = ["chat", "completion", "streaming", "logprobs", "penalties", "structured_output", "grammar"];

/** Kinds of media that are turned into text for models that cannot take them. */
type ReadKinds = Partial<Readonly<Record<MediaKind, boolean>>>;

/** Returns a model's capabilities, some of which depend on its template and projector, or on the readers of media. */
const capabilitiesOf = ({ template, vision, audio }: ModelInfo, read: ReadKinds): string[] => [
  ...ALWAYS,
  ...(template.tools ? ["tools"] : []),
  ...(template.thinking ? ["reasoning"] : []),
  ...(vision || read.image ? ["vision"] : []),
  ...(audio || read.audio ? ["audio"] : []),
];

export class LocalModel implements ModelSource {
  readonly backend: TextBackend;
  /** The same engine under the names of the adapters. */
  private readonly adapted: ReadonlyMap<string, TextBackend>;

  constructor(
    private readonly engine: TextPort,
    parallel: number,
    private readonly read: ReadKinds = {},
    /** Further names of the model. */
    private readonly aliases: readonly string[] = [],
  ) {
    const { modelId, adapters } = engine.status();
    this.backend = { model: modelId, engine, parallel, subject: { kind: "text", model: modelId } };
    this.adapted = new Map(adapters.map(({ name }) => [name, { ...this.backend, model: name }]));
  }

  models(): readonly ListedModel[] {
    const status = this.engine.status();
    const { modelId: parent, modelName: name, adapters } = status;
    const { aliases } = this;
    const model = {
      ...listed(status, this.read),
      ...(name !== undefined && { name }),
      ...(aliases.length > 0 && { aliases }),
    };
    return [
      model,
      ...adapters.map(({ name, created }) => ({ ...listed(status, this.read), id: name, created, parent })),
    ];
  }

  find(model: string): Served | undefined {
    const isOwn = model === this.backend.model || this.aliases.includes(model);
    const chat = isOwn ? this.backend : this.adapted.get(model);
    return chat && { chat };
  }
}

/** Returns the router of a server with one text engine and these other sources. */
export function localRouter(
  engine: TextPort,
  parallel: number,
  others: readonly ModelSource[] = [],
  read: ReadKinds = {},
  aliases: readonly string[] = [],
): ModelRouter {
  const local = new LocalModel(engine, parallel, read, aliases);
  return new ModelRouter([local, ...others], { chat: local.backend });
}

function listed({ state, modelId, created, model }: TextStatus, read: ReadKinds): ListedModel {
  return {
    id: modelId,
    created,
    ownedBy: "svc",
    ...loadedIn(state),
    capabilities: model ? capabilitiesOf(model, read) : ALWAYS,
    ...(model && { contextLength: model.maxModelLen, file: model }),
  };
}
