// Says why a server cannot be reached, in words that help its operator and contain nothing of the server.

import { systemErrorCode } from "../domain/system-error-code.ts";

const NO_HTTPS = "the TLS handshake failed, so perhaps it does not speak HTTPS at this port";

/** The first pattern that matches the error's code says why. */
const CAUSES: readonly (readonly [code: RegExp, why: string])[] = [
  [/^ECONNREFUSED$/, "nothing listens at its address"],
  [/^(ENOTFOUND|EAI_\w+|DNS_\w+)$/, "its host name cannot be resolved"],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EINVAL)$/, "no network route to its address"],
  [/^CERT_HAS_EXPIRED$/, "its certificate has expired"],
  [/ALTNAME_INVALID|HOSTNAME_MISMATCH/, "its certificate is for another name"],
  [/CERT|LEAF_SIGNATURE/, "its certificate is not trusted (NODE_EXTRA_CA_CERTS=FILE adds an authority of your own)"],
  [/^Malformed_HTTP_Response$/, "it does not answer with HTTP"],
  [/^(EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/, NO_HTTPS],
];

/** Continues "The server of this model". `url`: the server's address; `proxy`: the way to it, if any. */
export function unreached(error: unknown, { url, proxy }: { readonly url: string; readonly proxy?: string }): string {
  const why = causeOf(error, url);
  const through = proxy === undefined ? "" : " through the proxy";
  return `cannot be reached${through}${why === undefined ? "" : `: ${why}`}`;
}

function causeOf(error: unknown, url: string): string | undefined {
  if (error instanceof Error && error.name === "TimeoutError") return "it did not answer in time";
  const code = systemErrorCode(error) ?? "";
  if (code === "ECONNRESET") {
    const hint = url.startsWith("http:") ? "; perhaps it expects https" : "";
    return `it closed the connection without an answer${hint}`;
  }
  return CAUSES.find(([pattern]) => pattern.test(code))?.[1];
}
