// What requests to a route need, by its method and path.

/** Where browsers find what the pages load. */
export const ASSETS = "/page/";

const OPEN: ReadonlySet<string> = new Set(["/", "/health", "/v1/health", "/openapi.json", "/docs"]);

/** Whether the route is for everybody: it tells nothing of anybody's own, needs no API key, and any page may link to it. */
export const isOpen = (pathname: string | undefined): boolean =>
  pathname !== undefined && (OPEN.has(pathname) || pathname.startsWith(ASSETS));

/** Whether the request looks at the server rather than using it: it counts as no connection, and its line in the log is for debugging. */
export const isLook = (pathname: string | undefined): boolean =>
  isOpen(pathname) || pathname === "/metrics" || pathname === "/v1/requests";

/** Whether a route takes an API key as a password, too: the clients of that web interface know nothing else. */
export const takesPassword = (pathname: string | undefined): boolean => pathname?.startsWith("/sdapi/") === true;

/** Whether requests count towards the limits of their API key: those that make something. Cancelling is never refused. */
export const isLimited = (method: string, pathname: string): boolean =>
  method === "POST" ? !/\/(?:cancel|interrupt)\/?$/.test(pathname) : opensSession(method, pathname);

/** Whether the request opens a live session, for which a client secret is as good as an API key. */
export const opensSession = (method: string, pathname: string): boolean =>
  method === "GET" && /^(\/v1)?\/realtime\/?$/.test(pathname);
