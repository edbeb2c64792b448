// POST /v1/chat/completions/{id}/cancel

import { Elysia } from "elysia";
import { Cancellation } from "../../contract/cancel.ts";
import type { RequestService } from "../../service/request.ts";
import { jsonContent } from "../json-content.ts";

/** Cancels a live request of any kind by its correlation id, and items of a batch by theirs. */
export const cancelRoutes = (...services: readonly Pick<RequestService, "cancel">[]) =>
  new Elysia({ name: "route.cancel" }).post(
    "/v1/chat/completions/:id/cancel",
    ({ params, request }) => {
      // Elysia gives null for an id with broken percent escapes: it is taken as it was written.
      const id = params.id ?? /([^/]*)\/cancel\/?$/.exec(URL.parse(request.url)?.pathname ?? "")?.[1] ?? "";
      const cancelled = services.some((service) => service.cancel(id));
      const body: Cancellation = { id, object: "chat.completion.cancellation", cancelled };
      return Response.json(body, { status: cancelled ? 200 : 404 });
    },
    { parse: "none", detail: { responses: { 200: jsonContent(Cancellation), 404: jsonContent(Cancellation) } } },
  );
