// What every answer tells a browser: take it for what it says it is, and show it in no other page's frame.

const HEADERS = [
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
] as const;
const POLICY = "Content-Security-Policy";
/** Data has nothing to load, wherever a browser shows it. */
const DATA = "default-src 'none'; frame-ancestors 'none'";

/**
 * The policy of the page that describes the API. Its interactive reference comes from a content delivery network and
 * brings styles, fonts and code of its own; what it may talk to is this server alone.
 */
export const PAGE_POLICY =
  "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Adds them; a page has brought its own policy. */
export function addSecurityHeaders(headers: Headers): void {
  for (const [name, value] of HEADERS) headers.set(name, value);
  if (!headers.has(POLICY)) headers.set(POLICY, DATA);
}
