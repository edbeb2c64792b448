// The server that runs at --host and --port, for commands that ask it something.

import { X509Certificate } from "node:crypto";
import { rootCertificates, type PeerCertificate } from "node:tls";
import type { Config } from "../config/config.ts";

const TIMEOUT_MS = 10_000;

/** Where a server listens, and how it is asked. */
export type Where = Pick<Config, "host" | "port" | "apiKeys" | "tls">;

/** Its address, as this machine reaches it. */
export function serverUrl({ host, port, tls }: Where): string {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `${tls ? "https" : "http"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** Fetches a path with the first API key, for at most ten seconds. Rejects when nobody answers. */
export function askServer(config: Where, path: string): Promise<Response> {
  const [first] = config.apiKeys;
  const headers = first === undefined ? {} : { authorization: `Bearer ${first.key}` };
  const tls = config.tls === undefined ? {} : onlyFrom(config.tls.cert);
  return fetch(serverUrl(config) + path, { headers, tls, signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** The server has this very certificate, for whatever names others call it by: nobody else is to get the key. */
function onlyFrom(cert: string) {
  const { fingerprint256 } = new X509Certificate(cert);
  const checkServerIdentity = (_: string, peer: PeerCertificate) =>
    peer.fingerprint256 === fingerprint256 ? undefined : new Error("another certificate");
  return { ca: [cert, ...rootCertificates], checkServerIdentity };
}
