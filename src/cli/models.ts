// `svc models`: lists the models of the server at --host and --port.

import { fetchList, type Where } from "./running-server.ts";
import { textTable } from "./text-table.ts";
import { outputWidth, writeOut } from "./write-out.ts";

interface ListedModel {
  readonly id: string;
  readonly owned_by: string;
  readonly aliases?: readonly string[];
  readonly loaded?: boolean;
  readonly max_context_length?: number;
}

/** The models that a server lists. */
export interface Listing {
  readonly data: readonly ListedModel[];
  readonly models?: readonly { name: string; capabilities: readonly string[]; parameters?: number }[];
}

/**
 * Prints one line per model (name, owner, whether it is loaded, context, capabilities), or the server's listing as
 * JSON. Throws ExitError.
 */
export async function listModels(config: Where, asJson: boolean): Promise<void> {
  const listing = await fetchListing(config);
  await writeOut(asJson ? `${JSON.stringify(listing, undefined, 2)}\n` : modelTable(listing, outputWidth()));
}

/** Returns the models of the server at --host and --port. Throws ExitError. */
export const fetchListing = (config: Where): Promise<Listing> => fetchList<ListedModel>(config, "/v1/models");

/** Formats the listing as aligned columns with a header, for `width` columns. */
export function modelTable({ data, models = [] }: Listing, width?: number): string {
  const capabilities = new Map(models.map((model) => [model.name, model.capabilities.join(", ")]));
  const rows = data.map(({ id, owned_by, loaded, max_context_length }) => [
    id,
    owned_by,
    loaded === false ? "no" : "yes",
    max_context_length === undefined ? "" : String(max_context_length),
    capabilities.get(id) ?? "",
  ]);
  return textTable(["NAME", "OWNER", "LOADED", "CONTEXT", "CAPABILITIES"], rows, width);
}
