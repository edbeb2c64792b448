// Offers local chat models to the router, and their LoRA adapters as models of their own.

import type { MediaKind } from "../domain/media.ts";
import type { ListedModel } from "../domain/model.ts";
import { loadedIn } from "../domain/process-status.ts";
import type { TextPort, TextStatus } from "../engine/text/port.ts";
import { ModelRouter, type ModelSource, type TextBackend } from "./model-router.ts";
import { OfferedModels, type OfferedModel } from "./offered-models.ts";

/** Capabilities that every local chat model has; clients choose features by them. */
const ALWAYS = ["chat", "completion", "streaming", "logprobs", "penalties", "structured_output", "grammar"];

/** Kinds of media that are turned into text for models that cannot take them. */
export type ReadKinds = Partial<Readonly<Record<MediaKind, boolean>>>;

/** Returns a model's capabilities, some of which depend on its template and projector, or on the readers of media. */
const capabilitiesOf = (
  { template, vision, audio }: NonNullable<TextStatus["expected"]>,
  read: ReadKinds,
): string[] => [
  ...ALWAYS,
  ...(template.tools ? ["tools"] : []),
  ...(template.thinking ? ["reasoning"] : []),
  ...(vision || read.image ? ["vision"] : []),
  ...(audio || read.audio ? ["audio"] : []),
];

/** Offers a chat model, and each of its LoRA adapters as a model of its own. */
export function offeredChat(
  engine: TextPort,
  parallel: number,
  read: ReadKinds = {},
  aliases: readonly string[] = [],
): readonly [OfferedModel, ...OfferedModel[]] {
  const { modelId: id, adapters } = engine.status();
  const chat: TextBackend = { model: id, engine, parallel, subject: { kind: "text", model: id } };
  const model: OfferedModel = {
    id,
    aliases,
    served: { chat },
    describe: () => {
      const status = engine.status();
      const { modelName: name } = status;
      return { ...listed(status, read), ...(name !== undefined && { name }), ...(aliases.length > 0 && { aliases }) };
    },
  };
  const adapted = adapters.map(({ name, created }) => ({
    id: name,
    served: { chat: { ...chat, model: name } },
    describe: () => ({ ...listed(engine.status(), read), id: name, created, parent: id }),
  }));
  return [model, ...adapted];
}

/** Returns the router of a server with a model that is loaded from the start and these other sources. */
export function localRouter(
  engine: TextPort,
  parallel: number,
  others: readonly ModelSource[] = [],
  read: ReadKinds = {},
  aliases: readonly string[] = [],
): ModelRouter {
  const models = offeredChat(engine, parallel, read, aliases);
  return new ModelRouter([new OfferedModels(models), ...others], models[0].served);
}

const NOTHING = { template: { tools: false, thinking: false }, vision: false, audio: false };

function listed({ state, modelId, created, model, expected = NOTHING }: TextStatus, read: ReadKinds): ListedModel {
  return {
    id: modelId,
    created,
    ownedBy: "svc",
    ...loadedIn(state),
    capabilities: capabilitiesOf(model ?? expected, read),
    ...(model && { contextLength: model.maxModelLen, file: model }),
  };
}
