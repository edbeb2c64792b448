// GET /openapi.json and GET /docs

import { Elysia } from "elysia";
import { docsPage } from "../docs-page.ts";
import type { OpenApiDocument } from "../openapi.ts";

/** The description as JSON and as a page; `describe` is asked once, at the first request. */
export const docsRoutes = (describe: () => Promise<OpenApiDocument>) => {
  let document: Promise<OpenApiDocument> | undefined;
  const described = () => (document ??= describe());
  return new Elysia({ name: "route.docs" })
    .get("/openapi.json", async () => Response.json(await described()), {
      detail: {
        responses: {
          200: { description: "OpenAPI 3.1.", content: { "application/json": { schema: { type: "object" } } } },
        },
      },
    })
    .get(
      "/docs",
      async ({ request }) =>
        new Response(docsPage(await described(), new URL(request.url).origin), {
          headers: { "Content-Type": "text/html; charset=utf-8" },
        }),
      {
        detail: {
          responses: { 200: { description: "A page.", content: { "text/html": { schema: { type: "string" } } } } },
        },
      },
    );
};
