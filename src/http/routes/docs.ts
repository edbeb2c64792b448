// GET /, GET /openapi.json and GET /docs

import { Elysia } from "elysia";
import { docsPage } from "../openapi/docs-page.ts";
import { PAGE_POLICY } from "../plugins/security-headers.ts";
import type { AppDeps } from "../deps.ts";
import type { OpenApiDocument } from "../openapi/document.ts";

/** The description as JSON and as a page, which is where browsers begin; `describe` is called once, at the first request. */
export const docsRoutes = ({ version }: Pick<AppDeps, "version">, describe: () => Promise<OpenApiDocument>) => {
  let document: Promise<OpenApiDocument> | undefined;
  const described = () => (document ??= describe());
  const greeting = `svc ${version} is running. The API is under /v1; /docs describes it.\n`;
  return new Elysia({ name: "route.docs" })
    .get(
      "/",
      ({ request }) =>
        request.headers.get("accept")?.includes("text/html")
          ? new Response(null, { status: 302, headers: { Location: "/docs", Vary: "Accept" } })
          : new Response(greeting, { headers: { "Content-Type": "text/plain; charset=utf-8", Vary: "Accept" } }),
      {
        detail: {
          responses: {
            200: { description: "", content: { "text/plain": { schema: { type: "string" } } } },
            302: { description: "" },
          },
        },
      },
    )
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
          headers: { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": PAGE_POLICY },
        }),
      {
        detail: {
          responses: { 200: { description: "A page.", content: { "text/html": { schema: { type: "string" } } } } },
        },
      },
    );
};
