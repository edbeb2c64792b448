// The server that runs at --host and --port, for commands that ask it something.

import { X509Certificate } from "node:crypto";
import { rootCertificates, type PeerCertificate } from "node:tls";
import type { Config } from "../config/config.ts";
import { ExitError } from "./exit-codes.ts";

const TIMEOUT_MS = 10_000;

/** Where a server listens, and how requests reach it. */
export type Where = Pick<Config, "host" | "port" | "apiKeys" | "tls">;

/** Its address, as this machine reaches it. */
export function serverUrl({ host, port, tls }: Where): string {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `${tls ? "https" : "http"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** Fetches a path with the first API key, for at most ten seconds; with a body it is a POST. Rejects when nobody answers. */
export function askServer(config: Where, path: string, body?: object): Promise<Response> {
  const [first] = config.apiKeys;
  const headers = first === undefined ? {} : { authorization: `Bearer ${first.key}` };
  const tls = config.tls === undefined ? {} : onlyFrom(config.tls.cert);
  const sent = body && { method: "POST", body: JSON.stringify(body) };
  return fetch(serverUrl(config) + path, { ...sent, headers, tls, signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** A list of the server, with its other fields. Throws ExitError when there is none. */
export async function fetchList<Entry>(config: Where, path: string): Promise<{ readonly data: readonly Entry[] }> {
  const url = serverUrl(config);
  try {
    const response = await askServer(config, path);
    if (response.status === 401)
      throw new ExitError("failure", `${url} wants an API key, and the first of --api-key and --api-key-file is sent.`);
    const listing = (await response.json()) as { readonly data?: readonly Entry[] };
    if (response.ok && Array.isArray(listing.data)) return { ...listing, data: listing.data };
  } catch (error) {
    if (error instanceof ExitError) throw error;
    // Said below.
  }
  throw new ExitError("failure", `No model server answers at ${url}; --host and --port name another.`);
}

/** The server has this very certificate, for whatever names others call it by: nobody else is to get the key. */
function onlyFrom(cert: string) {
  const { fingerprint256 } = new X509Certificate(cert);
  const checkServerIdentity = (_: string, peer: PeerCertificate) =>
    peer.fingerprint256 === fingerprint256 ? undefined : new Error("another certificate");
  return { ca: [cert, ...rootCertificates], checkServerIdentity };
}
