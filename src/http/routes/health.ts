// GET /health

import { Elysia } from "elysia";
import { Health } from "../../contract/health.ts";
import { encodeHealth } from "../../dialect/status.ts";
import type { AppDeps } from "../deps.ts";
import { jsonContent } from "../json-content.ts";

/** Always 200 while the process answers; the body tells how the engines are. */
export const healthRoutes = ({ engine, engines, clock, version }: AppDeps) =>
  new Elysia({ name: "route.health" }).get(
    "/health",
    () => {
      const status = engine.status();
      const all = engines.map((one) => ({ ...one.status(), kind: one.kind, model: one.model }));
      const parts = { engine: status, engines: all, model: status.modelId, version, wall: clock.wall() };
      return Response.json(encodeHealth(parts));
    },
    { detail: { responses: { 200: jsonContent(Health, "The process answers.") } } },
  );
