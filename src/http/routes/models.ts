// GET /v1/models and GET /v1/models/{id}

import { Elysia } from "elysia";
import { Model, ModelList } from "../../contract/model.ts";
import { encodeModels } from "../../dialect/operations.ts";
import { SvcError } from "../../domain/errors.ts";
import type { AppDeps } from "../app.ts";
import { isForwarded } from "../generation-headers.ts";
import { jsonContent } from "../json-content.ts";

/** The models that can be asked, all and one by its name. */
export const modelRoutes = ({ router }: AppDeps) => {
  const list = (request: Request) => {
    router.refresh();
    return encodeModels(router.models(isForwarded(request.headers)));
  };

  return new Elysia({ name: "route.models" })
    .get("/v1/models", ({ request }) => Response.json(list(request)), {
      detail: { responses: { 200: jsonContent(ModelList, "The models that can be asked.") } },
    })
    .get(
      "/v1/models/:id",
      ({ params, request }) => {
        const model = list(request).data.find(({ id }) => id === params.id);
        if (model) return Response.json(model);
        throw new SvcError("not_found", "No model of this name is served.", { param: "model" });
      },
      { detail: { responses: { 200: jsonContent(Model) } } },
    );
};
