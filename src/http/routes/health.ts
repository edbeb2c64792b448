// GET /health

import { Elysia } from "elysia";
import { Health } from "../../contract/health.ts";
import { encodeHealth } from "../../dialect/status.ts";
import type { AppDeps } from "../deps.ts";
import { jsonContent } from "../json-content.ts";

/** Always 200 while the process answers; the body tells how the engine is. */
export const healthRoutes = ({ engine, clock, version }: AppDeps) =>
  new Elysia({ name: "route.health" }).get(
    "/health",
    () => Response.json(encodeHealth(engine.status(), version, clock.wall())),
    { detail: { responses: { 200: jsonContent(Health, "The process answers.") } } },
  );
