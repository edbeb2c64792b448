// Routes of /v1 under their paths without it, as clients ask for them whose base URL lacks it.

import { Elysia } from "elysia";

type Routes = Elysia["routes"];

/** Paths that clients know by other names. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  "/v1/rerank": ["/v1/reranking", "/reranking"],
};

/** The same handlers; a path that has a route of its own keeps it. They are no operations of their own. */
export function shortPaths(routes: Routes): Elysia {
  const taken = new Set(routes.map(({ path }) => path));
  const short = new Elysia({ name: "short-paths" });
  for (const { method, path, handler, hooks } of routes) {
    if (!path.startsWith("/v1/")) continue;
    const others = [path.slice("/v1".length), ...(OTHER_NAMES[path] ?? [])];
    for (const other of others.filter((one) => !taken.has(one))) {
      short.route(method, other, handler as never, { ...hooks, detail: { ...hooks.detail, hide: true } });
    }
  }
  return short;
}
