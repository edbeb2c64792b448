// GET /, GET /docs, GET /openapi.json and the files that the pages load

import { Elysia } from "elysia";
import { t } from "../../contract/schema.ts";
import { SvcError } from "../../domain/errors.ts";
import type { AppDeps } from "../deps.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import { ASSETS } from "../access.ts";
import { jsonAnswer, textContent } from "../json-content.ts";
import { bundlePages, type PageFile, type PageFiles } from "../pages/bundle.ts";
import { DOCS_POLICY, PAGE_POLICY } from "../plugins/security-headers.ts";

const JSON_TEXT = { headers: { "Content-Type": "application/json;charset=utf-8" } } as const;

/**
 * The chat and monitoring page, and the API description as JSON and as a page. `describe` is called once, at the first
 * request, and so is the bundler.
 */
export const pageRoutes = ({ version }: Pick<AppDeps, "version">, describe: () => Promise<OpenApiDocument>) => {
  let document: Promise<string> | undefined;
  let bundled: Promise<PageFiles> | undefined;
  const file = async (name: string): Promise<PageFile> => {
    const found = (await (bundled ??= bundlePages())).get(name);
    if (found) return found;
    throw new SvcError("not_found", "The page has no file of this name.");
  };
  const page = async (name: string, policy: string) => {
    const { type, body } = await file(name);
    // The names of the files that the page loads change with every version.
    const headers = { "Content-Type": type, "Cache-Control": "no-cache", "Referrer-Policy": "no-referrer" };
    return new Response(body, { headers: { ...headers, "Content-Security-Policy": policy, Vary: "Accept" } });
  };
  const greeting = `svc ${version} is running. The API is under /v1; /docs describes it.\n`;
  return new Elysia({ name: "route.pages" })
    .get(
      "/",
      ({ request }) =>
        request.headers.get("accept")?.includes("text/html")
          ? page("index.html", PAGE_POLICY)
          : new Response(greeting, { headers: { "Content-Type": "text/plain; charset=utf-8", Vary: "Accept" } }),
      { detail: { responses: { 200: textContent(["text/plain", "text/html"]) } } },
    )
    .get(
      "/openapi.json",
      async () =>
        new Response(await (document ??= describe().then((described) => JSON.stringify(described))), JSON_TEXT),
      jsonAnswer(t.Unsafe({ type: "object" })),
    )
    .get("/docs", () => page("docs.html", DOCS_POLICY), { detail: { responses: { 200: textContent(["text/html"]) } } })
    .get(
      `${ASSETS}:name`,
      async ({ params }) => {
        const { type, body } = await file(params.name);
        const headers = { "Content-Type": type, "Cache-Control": "public, max-age=31536000, immutable" };
        return new Response(body, { headers });
      },
      { detail: { hide: true } },
    );
};
