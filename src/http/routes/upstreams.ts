// GET /upstreams, POST /upstreams/{name}/drain and POST /upstreams/{name}/resume

import { Elysia } from "elysia";
import { DrainRequest, Upstream, UpstreamList } from "../../contract/upstreams.ts";
import { decodeDrain, encodeUpstream, encodeUpstreams } from "../../dialect/upstreams.ts";
import { SvcError } from "../../domain/errors.ts";
import type { AppDeps } from "../deps.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonAnswer, optionalRoute } from "../json-content.ts";
import { checkLocal } from "../plugins/origin.ts";

const steering = optionalRoute(DrainRequest, Upstream);

/** Callers with an API key may drain upstreams; on a server without keys, callers on this machine. */
export const upstreamRoutes = ({ upstreams, bodies, config, contexts }: AppDeps) => {
  const setDraining = async (request: Request, name: string | null, isDraining: boolean) => {
    if (contexts.of(request).apiKey === undefined) checkLocal(request.headers, config, "Upstreams are drained");
    const body = request.body ? await bodies.read(request, bodyCeilings.small) : undefined;
    const url = decodeDrain(new URL(request.url).searchParams, body);
    const upstream = name === null ? undefined : upstreams.setDraining(name, isDraining, url);
    if (upstream) return Response.json(encodeUpstream(upstream));
    const what = upstreams.status().some((one) => one.name === name) ? "replica of this upstream" : "upstream";
    throw new SvcError("not_found", `There is no such ${what}; GET /upstreams lists them.`);
  };
  return new Elysia({ name: "route.upstreams" })
    .get("/upstreams", () => Response.json(encodeUpstreams(upstreams.status())), jsonAnswer(UpstreamList))
    .post("/upstreams/:name/drain", ({ request, params }) => setDraining(request, params.name, true), steering)
    .post("/upstreams/:name/resume", ({ request, params }) => setDraining(request, params.name, false), steering);
};
