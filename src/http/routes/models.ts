// GET /v1/models and GET /v1/models/{id}

import { Elysia } from "elysia";
import { Model, ModelList } from "../../contract/model.ts";
import { encodeModels } from "../../dialect/status.ts";
import { SvcError } from "../../domain/errors.ts";
import type { AppDeps } from "../deps.ts";
import { isForwarded } from "../generation-headers.ts";
import { jsonAnswer } from "../json-content.ts";

/** The available models, all and one by its name. */
export const modelRoutes = ({ router }: AppDeps) => {
  const list = (request: Request) => {
    router.refresh();
    return encodeModels(router.models(isForwarded(request.headers)));
  };

  const describe = (request: Request, name: string) => {
    const model = list(request).data.find(({ id }) => id === name);
    if (model) return Response.json(model);
    throw new SvcError("model_not_found", "No model of this name is served.", { param: "model" });
  };

  return (
    new Elysia({ name: "route.models" })
      .get("/v1/models", ({ request }) => Response.json(list(request)), jsonAnswer(ModelList))
      .get("/v1/models/:id", ({ params, request }) => describe(request, params.id), jsonAnswer(Model))
      // Names of upstreams' models have slashes, and not every client writes them %2F.
      .get("/v1/models/*", ({ params, request }) => describe(request, decoded(params["*"])), { detail: { hide: true } })
  );
};

/** Elysia leaves what a star stands for as it is in the URL. What cannot be decoded names no model either way. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
