// GET /health, also as GET /v1/health

import { Elysia } from "elysia";
import { Health, OpenHealth } from "../../contract/health.ts";
import { t } from "../../contract/schema.ts";
import { encodeHealth, encodeOpenHealth } from "../../dialect/status.ts";
import type { AppDeps } from "../deps.ts";
import { jsonContent } from "../json-content.ts";

/** Always 200 while the process answers. The body describes engines; where there are keys, only to their holders. */
export const healthRoutes = ({ engine, engines, upstreams, clock, version, config, contexts }: AppDeps) => {
  const hooks = { detail: { responses: { 200: jsonContent(t.Union([Health, OpenHealth])) } } };
  const health = ({ request }: { readonly request: Request }) => {
    const status = engine.status();
    const all = engines().map((one) => ({ ...one.status(), kind: one.kind, model: one.model }));
    const parts = {
      engine: status,
      engines: all,
      upstreams: upstreams.status(),
      model: status.modelId,
      version,
      wall: clock.wall(),
    };
    const isKnown = config.apiKeys.length === 0 || contexts.of(request).apiKey !== undefined;
    return Response.json(isKnown ? encodeHealth(parts) : encodeOpenHealth(parts));
  };
  return new Elysia({ name: "route.health" })
    .get("/health", health, hooks)
    .get("/v1/health", health, { detail: { ...hooks.detail, hide: true } });
};
