// Maps paths to their methods, for 405 answers and for the route name in the log.

interface RouteMatch {
  /** The pattern as registered: `/v1/chat/completions/:id/cancel`. */
  readonly pattern: string;
  readonly methods: readonly string[];
}

export class RouteTable {
  private readonly patterns: readonly (RouteMatch & { readonly expression: RegExp })[];

  constructor(routes: readonly { readonly method: string; readonly path: string }[]) {
    const byPath = Map.groupBy(routes, (route) => route.path);
    this.patterns = [...byPath].map(([pattern, group]) => ({
      pattern,
      methods: group.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])),
      expression: new RegExp(
        `^${pattern
          .replaceAll(".", "\\.")
          .replace(/:[^/]+/g, "[^/]+")
          .replace("*", ".*")}/?$`,
      ),
    }));
  }

  /** Every path as registered. */
  get paths(): readonly string[] {
    return this.patterns.map(({ pattern }) => pattern);
  }

  /** Returns the route of a URL path, whatever the method. */
  find(path: string): RouteMatch | undefined {
    return this.patterns.find(({ expression }) => expression.test(path));
  }
}
