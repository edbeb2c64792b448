// `svc upstreams`: how the other servers are that the server at --host and --port sends requests to.

import type { Config } from "../config/config.ts";
import { exitCodes } from "./exit-codes.ts";
import { fetchList } from "./running-server.ts";
import { textTable } from "./text-table.ts";

export interface ListedUpstream {
  readonly name: string;
  readonly replicas: readonly {
    readonly url: string;
    readonly kind: string;
    readonly state: string;
    readonly running: number;
    readonly requests: number;
    readonly failures: Readonly<Record<string, number>>;
    readonly prompt_tokens: number;
    readonly cached_tokens: number;
    readonly first_token_ms?: { readonly median: number; readonly p99: number };
    readonly last_error?: string;
  }[];
}

/** Prints one line a replica, or the server's own listing as JSON. Throws ExitError. */
export async function listUpstreams(config: Config, asJson: boolean): Promise<number> {
  const listing = await fetchList<ListedUpstream>(config, "/upstreams");
  process.stdout.write(asJson ? `${JSON.stringify(listing, undefined, 2)}\n` : upstreamTable(listing.data));
  return exitCodes.ok.code;
}

/** The replicas as aligned columns with a head line. */
export function upstreamTable(upstreams: readonly ListedUpstream[]): string {
  if (upstreams.length === 0) return "No upstreams: --upstream names one, --gateway looks for them on this machine.\n";
  const rows = upstreams.flatMap(({ name, replicas }) =>
    replicas.map((replica) => [
      name,
      replica.url,
      replica.kind,
      replica.state,
      String(replica.running),
      String(replica.requests),
      String(Object.values(replica.failures).reduce((sum, count) => sum + count, 0)),
      replica.prompt_tokens > 0 ? `${Math.round((100 * replica.cached_tokens) / replica.prompt_tokens)} %` : "",
      replica.first_token_ms ? `${replica.first_token_ms.median} ms` : "",
      replica.last_error ?? "",
    ]),
  );
  const head = ["NAME", "REPLICA", "KIND", "STATE", "RUNNING", "REQUESTS", "FAILED", "CACHED", "FIRST TOKEN", "WHY"];
  return textTable(head, rows);
}
