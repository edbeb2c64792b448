// Sends requests to the server at --host and --port, for commands that need an answer from it.

import { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import type { Config } from "../config/config.ts";
import { isEverywhere } from "../config/host-name.ts";
import { ExitError } from "./exit-codes.ts";
import { rootCertificates } from "./root-certificates.ts";

const TIMEOUT_MS = 10_000;
/** Milliseconds for the answer to a question that a message depends on. */
const LOOK_MS = 2000;

/** Where a server listens, and the keys and certificate to reach it. */
export type Where = Pick<Config, "host" | "port" | "apiKeys" | "tls">;

/** Returns the server's address for programs on this machine. */
export function serverUrl({ host, port, tls }: Where): string {
  const reachable = isEverywhere(host) ? "127.0.0.1" : host;
  return `${tls ? "https" : "http"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** Sends a GET, or a POST with a body, with the first API key. Rejects if nothing answers within `mostMs`, at most 10 s. */
export function askServer(config: Where, path: string, body?: object, mostMs = TIMEOUT_MS): Promise<Response> {
  const [first] = config.apiKeys;
  const headers = first === undefined ? {} : { authorization: `Bearer ${first.key}` };
  const tls = config.tls === undefined ? {} : onlyFrom(config.tls.cert);
  const sent = body && { method: "POST", body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(Math.min(mostMs, TIMEOUT_MS));
  return fetch(serverUrl(config) + path, { ...sent, headers, tls, signal });
}

/** Throws ExitError with the reason when the server refuses this caller: asking again would not help. */
export async function checkAdmitted(url: string, response: Response): Promise<void> {
  if (response.status === 401)
    throw new ExitError(
      "failure",
      `${url} requires an API key: give it with --api-key-file FILE or --api-key KEY, of which svc sends the first.`,
    );
  if (response.status !== 403) return;
  throw new ExitError("failure", `${url} refuses this request: ${(await errorIn(response)) ?? "403 Forbidden."}`);
}

/** Returns whether an svc answers at this URL, whatever its certificate. The request carries no API key. */
export async function isSvc(url: string, mostMs = LOOK_MS): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(Math.min(mostMs, LOOK_MS));
    const { headers } = await fetch(`${url}/health`, { signal, tls: { rejectUnauthorized: false } });
    return headers.has("compat-request-id");
  } catch {
    return false;
  }
}

/**
 * Throws ExitError when an svc answers with HTTPS where `config` has no certificate, or without where it has one: asking
 * again would not help.
 */
export async function checkScheme(config: Where, mostMs = LOOK_MS): Promise<void> {
  const url = serverUrl(config).replace(/^https?/, config.tls ? "http" : "https");
  if (!(await isSvc(url, mostMs))) return;
  const advice = config.tls
    ? "does not use HTTPS: leave out --tls-cert and --tls-key"
    : "uses HTTPS: give the --tls-cert and --tls-key that it was started with";
  throw new ExitError("failure", `The server at ${url} ${advice}.`);
}

/** Returns the message of a server's error, if the body has one. */
export async function errorIn(response: Response): Promise<string | undefined> {
  const body = (await response.json().catch(() => undefined)) as { readonly error?: { message?: string } } | undefined;
  return body?.error?.message;
}

/** Fetches a list from the server, with its other fields. Throws ExitError when there is none. */
export async function fetchList<Entry>(config: Where, path: string): Promise<{ readonly data: readonly Entry[] }> {
  const url = serverUrl(config);
  try {
    const response = await askServer(config, path);
    await checkAdmitted(url, response);
    const listing = (await response.json()) as { readonly data?: readonly Entry[] };
    if (response.ok && Array.isArray(listing.data)) return { ...listing, data: listing.data };
  } catch (error) {
    if (error instanceof ExitError) throw error;
    // Reported below.
  }
  await checkScheme(config);
  throw new ExitError("failure", `No model server answers at ${url}; choose another with --host and --port.`);
}

/** Accepts only the server's own certificate, whatever names it covers, so that no other server receives the key. */
function onlyFrom(cert: string) {
  const { fingerprint256 } = new X509Certificate(cert);
  const checkServerIdentity = (_: string, peer: PeerCertificate) =>
    peer.fingerprint256 === fingerprint256 ? undefined : new Error("another certificate");
  return { ca: [cert, ...rootCertificates()], checkServerIdentity };
}
