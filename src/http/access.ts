// What requests to a route need, by its method and path.

const OPEN: ReadonlySet<string> = new Set(["/", "/health", "/openapi.json", "/docs"]);

/** Whether the route is for everybody: it tells nothing of anybody's own, needs no API key, and any page may link to it. */
export const isOpen = (pathname: string | undefined): boolean => pathname !== undefined && OPEN.has(pathname);

/** Whether requests count towards the limits of their API key: those that make something. Cancelling is never refused. */
export const isLimited = (method: string, pathname: string): boolean =>
  method === "POST"
    ? !/\/(?:cancel|interrupt)\/?$/.test(pathname)
    : method === "GET" && /^(\/v1)?\/realtime\/?$/.test(pathname);
