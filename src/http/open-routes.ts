// Routes that are for everybody: they tell nothing of what is anybody's own.

const OPEN: ReadonlySet<string> = new Set(["/", "/health", "/openapi.json", "/docs"]);

/** Whether the route of this path needs no API key, and any page may link to it. */
export const isOpen = (pathname: string | undefined): boolean => pathname !== undefined && OPEN.has(pathname);
