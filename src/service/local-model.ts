// The model of the engine here, and its LoRA adapters as models of their own, as a source of the router.

import type { ListedModel, ModelInfo } from "../domain/model.ts";
import type { TextPort, TextStatus } from "../engine/text/port.ts";
import { ModelRouter, type ModelSource, type Served, type TextBackend } from "./model-router.ts";

/** What a chat model can do here, whatever it is; clients decide by it. */
const ALWAYS = ["chat", "completion", "streaming", "logprobs", "penalties", "structured_output", "grammar"];

/** What depends on the model's template and projector, or on who hears for it. */
const capabilitiesOf = ({ template, vision, audio }: ModelInfo, transcribes: boolean): string[] => [
  ...ALWAYS,
  ...(template.tools ? ["tools"] : []),
  ...(template.thinking ? ["reasoning"] : []),
  ...(vision ? ["vision"] : []),
  ...(audio || transcribes ? ["audio"] : []),
];

export class LocalModel implements ModelSource {
  readonly backend: TextBackend;
  /** The same engine under the names of the adapters. */
  private readonly adapted: ReadonlyMap<string, TextBackend>;

  constructor(
    private readonly engine: TextPort,
    parallel: number,
    /** Sound in its requests is transcribed if it cannot hear. */
    private readonly transcribes = false,
  ) {
    const { modelId, adapters } = engine.status();
    this.backend = { model: modelId, engine, parallel, subject: { kind: "text", model: modelId } };
    this.adapted = new Map(adapters.map(({ name }) => [name, { ...this.backend, model: name }]));
  }

  models(): readonly ListedModel[] {
    const status = this.engine.status();
    const { modelId: parent, adapters } = status;
    const model = listed(status, this.transcribes);
    return [model, ...adapters.map(({ name, created }) => ({ ...model, id: name, created, parent }))];
  }

  find(model: string): Served | undefined {
    const chat = model === this.backend.model ? this.backend : this.adapted.get(model);
    return chat && { chat };
  }
}

/** The router of a server with one engine and these sources beside it. `transcribes`: as of `LocalModel`. */
export function localRouter(
  engine: TextPort,
  parallel: number,
  others: readonly ModelSource[] = [],
  transcribes = false,
): ModelRouter {
  const local = new LocalModel(engine, parallel, transcribes);
  return new ModelRouter([local, ...others], { chat: local.backend });
}

function listed({ state, modelId, modelCreated, model }: TextStatus, transcribes: boolean): ListedModel {
  return {
    id: modelId,
    created: modelCreated,
    ownedBy: "svc",
    loaded: state === "ready",
    capabilities: model ? capabilitiesOf(model, transcribes) : ALWAYS,
    ...(model && { contextLength: model.maxModelLen, file: model }),
  };
}
