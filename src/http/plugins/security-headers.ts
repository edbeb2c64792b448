// What every answer tells a browser: take it for what it says it is, and show it in no other page's frame.

const HEADERS = [
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
] as const;
const POLICY = "Content-Security-Policy";
/** Data has nothing to load, wherever a browser shows it. */
const DATA = "default-src 'none'; frame-ancestors 'none'";

/**
 * The policy of the page that describes the API: scripts and styles are files of this server, nothing is inline, and nothing
 * is loaded from or sent to anywhere else.
 */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The policy of the page to chat in, whatever a model writes: beyond that, markup comes from the sanitiser alone. */
export const PAGE_POLICY = `${DOCS_POLICY}; media-src data: blob:; require-trusted-types-for 'script'; trusted-types dompurify`;

/** Adds them; a page has brought its own policy. */
export function addSecurityHeaders(headers: Headers): void {
  for (const [name, value] of HEADERS) headers.set(name, value);
  if (!headers.has(POLICY)) headers.set(POLICY, DATA);
}
