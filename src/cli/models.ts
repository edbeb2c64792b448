// `svc models`: what the server that runs at --host and --port can be asked for.

import { X509Certificate } from "node:crypto";
import { rootCertificates, type PeerCertificate } from "node:tls";
import type { Config } from "../config/config.ts";
import { ExitError, exitCodes } from "./exit-codes.ts";
import { textTable } from "./text-table.ts";

const TIMEOUT_MS = 10_000;

interface Listing {
  readonly data: readonly { id: string; owned_by: string; loaded?: boolean; max_context_length?: number }[];
  readonly models?: readonly { name: string; capabilities: readonly string[] }[];
}

/**
 * Prints one line a model: name, owner, whether it is loaded, context, what it can do; or the server's own listing as
 * JSON. Throws ExitError.
 */
export async function listModels({ host, port, apiKeys, tls }: Config, asJson: boolean): Promise<number> {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const url = `${tls ? "https" : "http"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
  const listing = await fetchListing(url, { key: apiKeys[0]?.key, cert: tls?.cert });
  process.stdout.write(asJson ? `${JSON.stringify(listing, undefined, 2)}\n` : modelTable(listing));
  return exitCodes.ok.code;
}

interface Trust {
  readonly key: string | undefined;
  readonly cert: string | undefined;
}

async function fetchListing(url: string, { key, cert }: Trust): Promise<Listing> {
  try {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const tls = cert === undefined ? {} : onlyFrom(cert);
    const response = await fetch(`${url}/v1/models`, { headers, tls, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.status === 401)
      throw new ExitError("failure", `${url} wants an API key, and the first of --api-key and --api-key-file is sent.`);
    const listing = (await response.json()) as Partial<Listing>;
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

/** The listing as aligned columns with a head line. */
export function modelTable({ data, models = [] }: Listing): string {
  const capabilities = new Map(models.map((model) => [model.name, model.capabilities.join(", ")]));
  const rows = data.map(({ id, owned_by, loaded, max_context_length }) => [
    id,
    owned_by,
    loaded === false ? "no" : "yes",
    max_context_length === undefined ? "" : String(max_context_length),
    capabilities.get(id) ?? "",
  ]);
  return textTable(["NAME", "OWNER", "LOADED", "CONTEXT", "CAPABILITIES"], rows);
}
