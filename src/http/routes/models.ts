// GET /v1/models and GET /v1/models/{id}

import { Elysia } from "elysia";
import { MessagesModel, MessagesModelList, Model, ModelList } from "../../contract/model.ts";
import { t } from "../../contract/schema.ts";
import { decodeModelPage, encodeMessagesModels, encodeModelPage } from "../../dialect/messages/models.ts";
import { encodeEntries, encodeModels } from "../../dialect/status.ts";
import { SvcError } from "../../domain/errors.ts";
import type { ListedModel } from "../../domain/model.ts";
import { isNamed } from "../../service/model-router.ts";
import type { AppDeps } from "../deps.ts";
import { isMessagesClient } from "../error-form.ts";
import { isForwarded } from "../generation-headers.ts";
import { jsonAnswer } from "../json-content.ts";

/** The available models, as a list or one by name, in the form of the API that the client uses. */
export const modelRoutes = ({ config, router }: AppDeps) => {
  const models = ({ headers }: Request) => {
    router.refresh();
    const listed = router.models(isForwarded(headers));
    return config.streaming ? listed : listed.map(unstreamed);
  };

  const list = (request: Request) => {
    if (!isMessagesClient(request.headers)) return encodeModels(models(request));
    const page = decodeModelPage(new URL(request.url).searchParams);
    return encodeModelPage(encodeMessagesModels(models(request)), page);
  };

  const describe = (request: Request, name: string) => {
    const encode = isMessagesClient(request.headers) ? encodeMessagesModels : encodeEntries;
    const named = models(request).find((model) => isNamed(model, name));
    const [model] = named ? encode([named]) : [];
    if (model) return Response.json(model);
    throw new SvcError("model_not_found", "No model of this name is served.", { param: "model" });
  };

  return (
    new Elysia({ name: "route.models" })
      .get(
        "/v1/models",
        ({ request }) => Response.json(list(request)),
        jsonAnswer(t.Union([ModelList, MessagesModelList])),
      )
      .get(
        "/v1/models/:id",
        ({ params, request }) => describe(request, params.id),
        jsonAnswer(t.Union([Model, MessagesModel])),
      )
      // Names of upstreams' models contain slashes, which some clients do not write as %2F.
      .get("/v1/models/*", ({ params, request }) => describe(request, decoded(params["*"])), { detail: { hide: true } })
  );
};

const unstreamed = (model: ListedModel): ListedModel => ({
  ...model,
  capabilities: model.capabilities.filter((one) => one !== "streaming"),
});

/** Decodes a wildcard path, which Elysia leaves as in the URL. An invalid escape names no model, decoded or not. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
