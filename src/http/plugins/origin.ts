// Decides which browser pages may call. Without authentication this keeps web pages from using the server: foreign Host
// names (DNS rebinding) and foreign origins are refused on every method.

import { isAddress, isLoopback } from "../../config/host-name.ts";
import { SvcError } from "../../domain/errors.ts";

export interface OriginPolicy {
  /** The address where the server listens. */
  readonly host: string;
  readonly corsOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
}

/** Schemes of pages that belong to an installed application, not to the web. */
const APP_SCHEMES = new Set(["tauri:", "app:", "vscode-webview:", "vscode-file:", "capacitor:", "ionic:", "electron:"]);
const EXPOSED =
  "X-Request-ID, Compat-Request-ID, Request-ID, Retry-After, X-Should-Retry, X-Grammar-Constraints, X-Embedding-Truncated, X-Svc-Compatibility, X-Svc-Emulated-Parameters, Content-Range, Content-Disposition";
const DEFAULT_HEADERS =
  "Content-Type, Authorization, X-Api-Key, X-Request-ID, Compat-Request-ID, X-Svc-Client, X-Svc-Deadline-Ms, X-Svc-Profile";
const PREFLIGHT_SECONDS = "600";

/** Returns the Host header without its port, in lower case. */
function hostName(header: string): string {
  return header.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
}

/**
 * Throws SvcError `forbidden_host` for names that their owners could point at this server at any time: all but loopback
 * names, the name that the server listens on, and those of --allowed-host.
 */
export function checkHost(headers: Headers, policy: OriginPolicy): void {
  const host = hostName(headers.get("host") ?? "");
  if (host === "" || isAddress(host) || isLoopback(host) || isNamed(host, policy)) return;
  throw new SvcError(
    "forbidden_host",
    "This server does not accept the host name in the Host header. Start svc with --allowed-host NAME to accept it.",
  );
}

const isNamed = (host: string, policy: OriginPolicy): boolean =>
  [policy.host, ...policy.allowedHosts].some((name) => name.toLowerCase() === host);

/** Returns whether the request was addressed by a name of --allowed-host. */
export const isAllowedHost = (headers: Headers, { allowedHosts }: Pick<OriginPolicy, "allowedHosts">): boolean =>
  allowedHosts.some((name) => name.toLowerCase() === hostName(headers.get("host") ?? ""));

/**
 * Throws SvcError `forbidden_origin` when the calling page is not allowed. `isOpen`: the route reveals no user data, so
 * any page may link to it.
 */
export function checkOrigin(headers: Headers, policy: OriginPolicy, isOpen: boolean): void {
  const origin = headers.get("origin");
  // Requests for what a foreign page merely shows, embeds or links to have no Origin header.
  const isForeign =
    origin === null ? !isOpen && headers.get("sec-fetch-site") === "cross-site" : !mayCall(origin, headers, policy);
  if (!isForeign || policy.corsOrigins.includes("*")) return;
  throw new SvcError(
    "forbidden_origin",
    "Web pages of this origin may not call this server. Start svc with --cors-origin ORIGIN to allow them.",
  );
}

function mayCall(origin: string, headers: Headers, policy: OriginPolicy): boolean {
  if (policy.corsOrigins.includes(origin) || originIsLocal(origin)) return true;
  // Allows svc's own pages at another address of this machine.
  return /^https?:\/\/(.*)$/.exec(origin)?.[1] === headers.get("host");
}

/**
 * Throws SvcError `forbidden_host` when the request may be made by others: the server listens beyond loopback, or was
 * addressed by a name of --allowed-host, which may belong to a proxy, or a web page of another origin calls. `what`: the
 * start of the error message.
 */
export function checkLocal(
  headers: Headers,
  policy: Pick<OriginPolicy, "host">,
  what = "Models are downloaded and removed",
): void {
  if (isLocal(headers, policy)) return;
  throw new SvcError(
    "forbidden_host",
    `${what} only through a loopback address, on a server that listens only on loopback, and not by web pages of other origins.`,
  );
}

/** Headers that proxies add to what they forward. */
const FORWARDED = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "via",
] as const;

/**
 * Returns whether the request certainly comes from this machine, and not from a page of --cors-origin, which the browser
 * on this machine has from another. A proxy may replace Host, or pass the one that its client chose.
 */
export function isLocal(headers: Headers, { host }: Pick<OriginPolicy, "host">): boolean {
  const origin = headers.get("origin");
  const isNear = isLoopback(host) && isLoopback(hostName(headers.get("host") ?? ""));
  return isNear && !FORWARDED.some((name) => headers.has(name)) && (origin === null || originIsLocal(origin));
}

function originIsLocal(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" || protocol === "https:" ? isLoopback(hostname) : APP_SCHEMES.has(protocol);
}

/** Adds the CORS headers to the answer of an admitted request. */
export function allowOrigin(request: Headers, response: Headers, policy: OriginPolicy): void {
  const origin = request.get("origin");
  if (origin === null) return;
  response.set("access-control-allow-origin", policy.corsOrigins.includes("*") ? "*" : origin);
  response.set("access-control-expose-headers", EXPOSED);
  response.append("vary", "Origin");
}

/** Returns the answer to OPTIONS: for a preflight, otherwise just the list of methods. */
export function preflight(request: Headers, methods: readonly string[]): Response {
  const allow = [...methods, "OPTIONS"].join(", ");
  const headers = new Headers({ allow });
  if (request.has("access-control-request-method")) {
    const requested = request.get("access-control-request-headers") ?? "";
    headers.set("access-control-allow-methods", allow);
    headers.set("access-control-allow-headers", /^[\w\-, ]+$/.test(requested) ? requested : DEFAULT_HEADERS);
    headers.set("access-control-max-age", PREFLIGHT_SECONDS);
    if (request.get("access-control-request-private-network") === "true") {
      headers.set("access-control-allow-private-network", "true");
    }
  }
  return new Response(null, { status: 204, headers });
}
