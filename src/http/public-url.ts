// The addresses that answers give to clients.

import { isAllowedHost, type OriginPolicy } from "./plugins/origin.ts";

/**
 * Returns the address of a path for the client that sent the request. A proxy in front of a name of --allowed-host
 * states in X-Forwarded-Proto whether its clients use TLS.
 */
export function publicUrl(path: string, { url, headers }: Request, policy: Pick<OriginPolicy, "allowedHosts">): string {
  const address = new URL(path, url);
  const scheme = headers.get("x-forwarded-proto")?.split(",")[0]?.trim().toLowerCase() ?? "";
  if (isAllowedHost(headers, policy) && ["http", "https"].includes(scheme)) address.protocol = scheme;
  return address.href;
}
