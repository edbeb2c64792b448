// `svc models`: what the server that runs at --host and --port can be asked for.

import type { Config } from "../config/config.ts";
import { ExitError, exitCodes } from "./exit-codes.ts";
import { askServer, serverUrl, type Where } from "./running-server.ts";
import { textTable } from "./text-table.ts";

/** What is served. */
export interface Listing {
  readonly data: readonly { id: string; owned_by: string; loaded?: boolean; max_context_length?: number }[];
  readonly models?: readonly { name: string; capabilities: readonly string[]; parameters?: number }[];
}

/**
 * Prints one line a model: name, owner, whether it is loaded, context, what it can do; or the server's own listing as
 * JSON. Throws ExitError.
 */
export async function listModels(config: Config, asJson: boolean): Promise<number> {
  const listing = await fetchListing(config);
  process.stdout.write(asJson ? `${JSON.stringify(listing, undefined, 2)}\n` : modelTable(listing));
  return exitCodes.ok.code;
}

/** What the server at --host and --port serves. Throws ExitError. */
export async function fetchListing(config: Where): Promise<Listing> {
  const url = serverUrl(config);
  try {
    const response = await askServer(config, "/v1/models");
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
