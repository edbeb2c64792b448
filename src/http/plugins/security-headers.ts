// Headers that tell browsers to trust the stated content type and to show the answer in no other page's frame.

const HEADERS = [
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
] as const;
const POLICY = "Content-Security-Policy";
/** Data needs to load nothing, wherever a browser shows it. */
const DATA = "default-src 'none'; frame-ancestors 'none'";

/**
 * The policy of the API description page: scripts and styles are files of this server, nothing is inline, and nothing
 * is loaded from or sent to other servers.
 */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The policy of the chat page, whatever a model writes: in addition, markup may come only from the sanitiser. */
export const PAGE_POLICY = `${DOCS_POLICY}; media-src data: blob:; require-trusted-types-for 'script'; trusted-types dompurify`;

/** Adds the headers; a page has already set its own policy. */
export function addSecurityHeaders(headers: Headers): void {
  for (const [name, value] of HEADERS) headers.set(name, value);
  if (!headers.has(POLICY)) headers.set(POLICY, DATA);
}
