// POST /v1/chat/completions/{id}/cancel

import { Elysia } from "elysia";
import { Cancellation } from "../../contract/cancel.ts";
import type { RequestService } from "../../service/request.ts";
import type { AppDeps } from "../deps.ts";
import { jsonContent } from "../json-content.ts";

/**
 * Cancels the newest running or waiting request of a correlation id, or an item of a batch by its name. Clients choose
 * these ids, so a caller with an API key ends only requests of that key.
 */
export const cancelRoutes = ({ contexts }: AppDeps, ...services: readonly Pick<RequestService, "cancel">[]) =>
  new Elysia({ name: "route.cancel" }).post(
    "/v1/chat/completions/:id/cancel",
    ({ params, request }) => {
      // Elysia returns null for an id with invalid percent escapes; it is then used as written.
      const id = params.id ?? /([^/]*)\/cancel\/?$/.exec(URL.parse(request.url)?.pathname ?? "")?.[1] ?? "";
      const cancelled = services.some((service) => service.cancel(id, contexts.of(request).apiKey));
      const body: Cancellation = { id, object: "chat.completion.cancellation", cancelled };
      return Response.json(body, { status: cancelled ? 200 : 404 });
    },
    { parse: "none", detail: { responses: { 200: jsonContent(Cancellation), 404: jsonContent(Cancellation) } } },
  );
