// GET /v1/requests

import { Elysia } from "elysia";
import { RequestList } from "../../contract/requests.ts";
import { encodeRequests } from "../../dialect/requests.ts";
import type { AppDeps } from "../deps.ts";
import { jsonAnswer } from "../json-content.ts";
import { isLocal } from "../plugins/origin.ts";

/**
 * A caller with an API key sees its own requests. Without keys every caller sees all, but only callers on this machine
 * see the ids for cancelling them.
 */
export const requestRoutes = ({ requests, config, contexts }: AppDeps) =>
  new Elysia({ name: "route.requests" }).get(
    "/v1/requests",
    ({ request }) => {
      const { apiKey } = contexts.of(request);
      const all = requests.history.list();
      const own = apiKey === undefined ? all : all.filter(({ client }) => client === apiKey);
      return Response.json(encodeRequests(own, apiKey !== undefined || isLocal(request.headers, config)));
    },
    jsonAnswer(RequestList),
  );
