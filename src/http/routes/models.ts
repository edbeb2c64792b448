// GET /v1/models

import { Elysia } from "elysia";
import { ModelList } from "../../contract/model.ts";
import { encodeModels } from "../../dialect/operations.ts";
import type { AppDeps } from "../app.ts";
import { jsonContent } from "../json-content.ts";

/** The models that can be asked. */
export const modelRoutes = ({ engine }: AppDeps) =>
  new Elysia({ name: "route.models" }).get("/v1/models", () => Response.json(encodeModels(engine.status())), {
    detail: { responses: { 200: jsonContent(ModelList, "The models that can be asked.") } },
  });
