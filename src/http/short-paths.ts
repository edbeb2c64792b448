// Registers the routes of /v1 also without that prefix, for clients whose base URL lacks it.

import { Elysia } from "elysia";

type Routes = Elysia["routes"];

/** Other names of paths that clients use. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  "/v1/rerank": ["/v1/reranking", "/reranking", "/v2/rerank"],
};

/** Returns the same handlers under shorter paths, undocumented; a path with a route of its own keeps it. */
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
