// What a request to a route requires, by its method and path.

/** Prefix of the files that the web pages load. */
export const ASSETS = "/page/";

const OPEN: ReadonlySet<string> = new Set(["/", "/health", "/v1/health", "/openapi.json", "/docs"]);

const LOOKS: ReadonlySet<string> = new Set(["/metrics", "/v1/requests", "/requests", "/upstreams"]);

/** Returns the path as in these lists: Elysia serves each also with a slash at its end. */
const listed = (pathname: string): string => pathname.replace(/(?<=[^/])\/$/, "");

/** Returns whether a route is public: it reveals no user data, needs no API key, and any page may link to it. */
export const isOpen = (pathname: string | undefined): boolean =>
  pathname !== undefined && (OPEN.has(listed(pathname)) || pathname.startsWith(ASSETS));

/** Returns whether a request only observes the server: it does not count as connection and is logged at debug level. */
export const isLook = (pathname: string | undefined): boolean => isOpen(pathname) || LOOKS.has(listed(pathname ?? ""));

/** Returns whether a route takes an API key as password, too: Stable Diffusion web clients send it in no other way. */
export const takesPassword = (pathname: string | undefined): boolean => pathname?.startsWith("/sdapi/") === true;

/** Returns whether a request counts towards its key's limits. Requests that only end or steer other work do not. */
export const isLimited = (method: string, pathname: string): boolean =>
  method === "POST" ? !/\/(?:cancel|interrupt|drain|resume)\/?$/.test(pathname) : opensSession(method, pathname);

/** Returns whether the request opens a live session, for which a client secret works like an API key. */
export const opensSession = (method: string, pathname: string): boolean =>
  method === "GET" && /^(\/v1)?\/realtime\/?$/.test(pathname);
