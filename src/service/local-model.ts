// The model of the engine here, as a source of the router.

import type { ListedModel, ModelInfo } from "../domain/model.ts";
import type { EnginePort, EngineStatus } from "../engine/port.ts";
import { ModelRouter, type Backend, type ModelSource } from "./model-router.ts";

/** What a chat model can do here, whatever it is; clients decide by it. */
const ALWAYS = ["chat", "completion", "streaming", "logprobs", "penalties", "structured_output", "grammar"];

/** What depends on the model's template and projector. */
const capabilitiesOf = ({ template, vision, audio }: ModelInfo): string[] => [
  ...ALWAYS,
  ...(template.tools ? ["tools"] : []),
  ...(template.thinking ? ["reasoning"] : []),
  ...(vision ? ["vision"] : []),
  ...(audio ? ["audio"] : []),
];

export class LocalModel implements ModelSource {
  readonly backend: Backend;

  constructor(
    private readonly engine: EnginePort,
    parallel: number,
  ) {
    this.backend = { model: engine.status().modelId, engine, parallel };
  }

  models(): readonly ListedModel[] {
    return [listed(this.engine.status())];
  }

  find(model: string): Backend | undefined {
    return model === this.backend.model ? this.backend : undefined;
  }
}

/** The router of a server with one engine and these sources beside it. */
export function localRouter(engine: EnginePort, parallel: number, others: readonly ModelSource[] = []): ModelRouter {
  const local = new LocalModel(engine, parallel);
  return new ModelRouter([local, ...others], local.backend);
}

function listed({ state, modelId, modelCreated, model }: EngineStatus): ListedModel {
  return {
    id: modelId,
    created: modelCreated,
    ownedBy: "svc",
    loaded: state === "ready",
    capabilities: model ? capabilitiesOf(model) : ALWAYS,
    ...(model && { contextLength: model.maxModelLen, file: model }),
  };
}
